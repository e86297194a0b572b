# Runs a formula of Homebrew's without Homebrew, in the folder of its sources:
#   ruby formula.rb FORMULA PREFIX
# installs into PREFIX and runs the formula's test.
require "fileutils"
require "pathname"
require "tmpdir"

class Pathname
  def install(*files)
    mkpath
    files.each { |file| FileUtils.cp(file, self) }
  end
end

def ENV.cc
  self["CC"] || "cc"
end

class Formula
  FIELDS = %i[desc homepage url version sha256 license].freeze

  class << self
    attr_reader :fields, :tests, :made

    def inherited(formula)
      super
      formula.instance_variable_set(:@fields, {})
      Formula.instance_variable_set(:@made, formula)
    end

    FIELDS.each { |name| define_method(name) { |value| @fields[name] = value } }

    def depends_on(_what); end

    def test(&block)
      @tests = block
    end
  end

  attr_reader :prefix

  def initialize(prefix)
    @prefix = Pathname.new(prefix)
  end

  def include
    prefix/"include"
  end

  def lib
    prefix/"lib"
  end

  def pkgshare
    prefix/"share/mimalloc"
  end

  def std_cmake_args
    ["-DCMAKE_INSTALL_PREFIX=#{prefix}", "-DCMAKE_INSTALL_LIBDIR=lib", "-DCMAKE_BUILD_TYPE=Release"]
  end

  def system(*command)
    Kernel.system(*command.map(&:to_s)) || abort("formula: this failed: #{command.join(" ")}")
  end
end

load ARGV[0]
formula = Formula.made
missing = Formula::FIELDS - formula.fields.keys
abort "formula: it does not say #{missing.join(", ")}" unless missing.empty?
made = formula.new(ARGV[1])
made.install
Dir.mktmpdir { |folder| Dir.chdir(folder) { made.instance_exec(&formula.tests) } }
puts formula.fields.values_at(:version, :sha256).join(" ")
