# On Windows: runs the programs that `./mi cross windows` has built in its folder.
#   powershell -File windows-check.ps1 FOLDER [SYSTEM]
# FOLDER/windows-check.csv gets a column SYSTEM, by default the version of this one, with a line for
# each test: whoever carries the folder from system to system fills the table. It is printed as one
# of Markdown, too. Exit status: 0, or 1 where a test has failed.
param(
  [Parameter(Mandatory = $true)][string]$Folder,
  [string]$System = [string][System.Environment]::OSVersion.Version
)

Set-Location $Folder
$profiles = Join-Path $PSScriptRoot '..\packaging\windows\mi.wprp'
$table = Join-Path (Get-Location) 'windows-check.csv'
$results = [ordered]@{}
$failed = 0

function Outcome([string]$Name, [string]$Result) {
  $script:results[$Name] = $Result
  if ($Result -ne 'pass' -and $Result -ne 'skip') {
    $script:failed++
    Write-Output "FAIL $Name ($Result)"
  } else {
    Write-Output "$Result $Name"
  }
}

# How a program ends; what it writes goes to a file, where one is named.
function Run([string]$Program, [string[]]$Arguments, [string]$Output) {
  $how = @{ FilePath = $Program; NoNewWindow = $true; PassThru = $true }
  if ($Arguments) { $how.ArgumentList = $Arguments }
  if ($Output) {
    $how.RedirectStandardOutput = $Output
    $how.RedirectStandardError = "$Output.err"
  }
  $process = Start-Process @how
  $null = $process.Handle  # without it there is no exit status later
  if ($process.WaitForExit(1200000)) {
    $process.WaitForExit()  # until all is written
    return $process.ExitCode
  }
  $process.Kill()
  return 'does not end'
}

function Expect([string]$Name, [int]$Status, [string]$Program, [string[]]$Arguments) {
  if (-not (Test-Path $Program)) {
    Outcome $Name 'skip'
    return
  }
  $got = Run $Program $Arguments
  if ($got -eq $Status) { Outcome $Name 'pass' }
  elseif ($got -eq 77) { Outcome $Name 'skip' }
  else { Outcome $Name "status $got" }
}

function ExpectWith([string]$Variable, [string]$Name, [string]$Program, [string[]]$Arguments) {
  [System.Environment]::SetEnvironmentVariable($Variable, '1')
  Expect $Name 0 $Program $Arguments
  [System.Environment]::SetEnvironmentVariable($Variable, $null)
}

# ---- the library, linked in ----

Get-ChildItem *-gcc.exe, *-gcc-debug.exe, *-gcc-secure.exe, *-zig.exe, *-etw.exe, *-msvc.exe |
  Where-Object { $_.Name -ne 'operators-msvc.exe' } |
  ForEach-Object { Expect $_.BaseName 0 $_.FullName }
foreach ($name in 'static', 'static-ucrt', 'static-cmake', 'events', 'fault') {
  Expect $name 0 ".\$name.exe"
}
ExpectWith 'FAULT_OLD' 'fault-old' .\fault.exe
Expect 'operators-static' 0 .\operators-static.exe all
Expect 'operators-msvc' 0 .\operators-msvc.exe handlers

# ---- the DLL ----

Expect 'clang-cl-redirect' 0 .\cmake-windows-clang-cl\redirect-mi.exe ours
Expect 'redirect-not' 0 .\redirect.exe theirs
Expect 'redirect' 0 .\redirect-mi.exe ours, handler
Expect 'redirect-refused' 0 .\redirect-refused.exe ours, handler, refused
ExpectWith 'REFUSE_ALL' 'redirect-all-refused' .\redirect-refused.exe ours, handler, refused
Expect 'late_load' 0 .\late_load.exe
Expect 'arm64ec-refused' 0 .\late_load.exe hybrid
ExpectWith 'MIMALLOC_DISABLE_REDIRECT' 'redirect-disabled' .\redirect-mi.exe theirs
Expect 'last_error-dll' 0 .\last_error-dll.exe
Expect 'unload-nothing' 0 .\unload.exe mimalloc.dll, nothing, 1000
Expect 'unload-blocks' 0 .\unload.exe mimalloc.dll, blocks, 1000
Expect 'unload-pinned' 0 .\unload.exe mimalloc.dll, pinned, 1000
Expect 'exit_storm' 0 .\exit_storm.exe 1000, running
Expect 'exit_storm-stopped' 0 .\exit_storm.exe 1000, stopped

# ---- minject, as CMake installs it ----

$minject = '.\cmake-prefix\bin\minject.exe'
Remove-Item -ErrorAction SilentlyContinue minject-check.exe
Expect 'minject' 0 $minject '-o', 'minject-check.exe', 'redirect.exe'
Expect 'minject-again' 1 $minject '-o', 'minject-check.exe', 'redirect.exe'
Expect 'minject-force' 0 $minject '-f', '-o', 'minject-check.exe', 'redirect.exe'
Expect 'minject-in-place' 1 $minject '-i', 'minject-check.exe'  # it loads the DLL already
Expect 'minject-wrong' 2 $minject '-x'
Expect 'minject-redirects' 0 .\minject-check.exe ours

# ---- real programs, with mimalloc.dll at the head of their imports and without ----

function Same([string]$Name, [string[]]$Arguments) {
  if (-not (Test-Path "programs\$Name-mi.exe")) {
    Outcome "programs-$Name" 'skip'
    return
  }
  Push-Location programs
  $status = Run ".\$Name.exe" $Arguments "$Name.out"
  $with = Run ".\$Name-mi.exe" $Arguments "$Name-mi.out"
  $same = (Get-FileHash "$Name.out").Hash -eq (Get-FileHash "$Name-mi.out").Hash
  Pop-Location
  if ($status -ne $with) { Outcome "programs-$Name" "status $with, not $status" }
  elseif (-not $same) { Outcome "programs-$Name" 'another output' }
  else { Outcome "programs-$Name" 'pass' }
}

Same 'clang-format' '--style=LLVM', 'input.c'
Same 'clang-tidy' '--config={}', '--checks=-*,readability-else-after-return', 'input.c', '--'
Same 'clangd' '--check=input.c', '--log=error', '--check-locations=0', '--enable-config=0'
Same 'astyle' '--stdin=input.c', '--style=allman', '--break-blocks'
Same 'ninja' '--version'
Same 'swig' '-version'

# ---- the profile for recording events: the system reads it ----

if (Get-Command wpr.exe -ErrorAction SilentlyContinue) {
  $text = (& wpr.exe -profiles $profiles | Out-String)
  if ($LASTEXITCODE -eq 0 -and $text -match 'Blocks' -and $text -match 'Memory') {
    Outcome 'wpr-profile' 'pass'
  } else {
    Outcome 'wpr-profile' "status $LASTEXITCODE"
  }
} else {
  Outcome 'wpr-profile' 'skip'
}

# ---- speed, which decides nothing ----

Write-Output 'Seconds as it is, and with mimalloc.dll:'
& .\speed.exe
& .\speed-mi.exe

# ---- the table: a line for each test, a column for each system ----

$lines = [ordered]@{}
$systems = @()
if (Test-Path $table) {
  foreach ($line in (Import-Csv $table)) {
    $lines[$line.test] = $line
    $systems = @($line.PSObject.Properties.Name | Where-Object { $_ -ne 'test' })
  }
}
if ($systems -notcontains $System) { $systems += $System }
foreach ($name in $results.Keys) {
  if (-not $lines.Contains($name)) { $lines[$name] = [pscustomobject]@{ test = $name } }
  $lines[$name] | Add-Member -Force -NotePropertyName $System -NotePropertyValue $results[$name]
}
$columns = @('test') + $systems
$lines.Values | Select-Object $columns | Export-Csv -NoTypeInformation $table
Write-Output ('| ' + ($columns -join ' | ') + ' |')
Write-Output ('|' + ('---|' * $columns.Count))
foreach ($line in (Import-Csv $table)) {
  Write-Output ('| ' + (($columns | ForEach-Object { $line.$_ }) -join ' | ') + ' |')
}
Write-Output "$failed failed"
exit [int]($failed -ne 0)
