# On Windows: runs the programs that `./mi cross windows` has built in its folder
#   powershell -File windows-check.ps1 FOLDER
param([Parameter(Mandatory = $true)][string]$Folder)

Set-Location $Folder
$failed = 0

function Expect([string]$Name, [int]$Status, [string]$Program, [string[]]$Arguments) {
  if ($Arguments) {
    $process = Start-Process -FilePath $Program -ArgumentList $Arguments -NoNewWindow -PassThru
  } else {
    $process = Start-Process -FilePath $Program -NoNewWindow -PassThru
  }
  $null = $process.Handle  # without it there is no exit status later
  if (-not $process.WaitForExit(1200000)) {
    $process.Kill()
    Write-Output "FAIL $Name (does not end)"
  } elseif ($process.ExitCode -ne $Status) {
    Write-Output "FAIL $Name (status $($process.ExitCode))"
  } else {
    Write-Output "pass $Name"
    return
  }
  $script:failed++
}

Get-ChildItem *-gcc.exe, *-gcc-debug.exe, *-gcc-secure.exe, *-zig.exe, *-etw.exe, *-msvc.exe |
  Where-Object { $_.Name -ne 'operators-msvc.exe' } |
  ForEach-Object { Expect $_.BaseName 0 $_.FullName }
foreach ($name in 'static', 'static-ucrt', 'static-cmake', 'events', 'fault') {
  Expect $name 0 ".\$name.exe"
}
Expect 'operators-static' 0 .\operators-static.exe all
Expect 'operators-msvc' 0 .\operators-msvc.exe handlers
Expect 'clang-cl-redirect' 0 .\cmake-windows-clang-cl\redirect-mi.exe ours
Expect 'redirect-not' 0 .\redirect.exe theirs
Expect 'redirect' 0 .\redirect-mi.exe ours, handler
Expect 'late_load' 0 .\late_load.exe
Expect 'arm64ec-refused' 0 .\late_load.exe hybrid
$env:MIMALLOC_DISABLE_REDIRECT = '1'
Expect 'redirect-disabled' 0 .\redirect-mi.exe theirs
Remove-Item Env:MIMALLOC_DISABLE_REDIRECT
Expect 'unload' 0 .\unload.exe mimalloc.dll
Expect 'exit_storm' 0 .\exit_storm.exe 1000, running
Expect 'exit_storm-stopped' 0 .\exit_storm.exe 1000, stopped
Write-Output 'Seconds as it is, and with mimalloc.dll:'
& .\speed.exe
& .\speed-mi.exe
Write-Output "$failed failed"
exit [int]($failed -ne 0)
