"""Conan 2 recipe: conan create . --version X.Y.Z"""

import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, get, rmdir

required_conan_version = ">=2.0"


class MimallocConan(ConanFile):
    name = "mimalloc"
    description = "A compact general purpose memory allocator with mimalloc's interface"
    license = "MIT"
    topics = ("allocator", "memory", "malloc")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "fPIC": [True, False],
        "override": [True, False],
        "secure": [False, True, "full"],
        "guarded": [True, False],
    }
    default_options = {
        "shared": False,
        "fPIC": True,
        "override": True,
        "secure": False,
        "guarded": False,
    }

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("this recipe has been tried on Linux only")

    def configure(self):
        # The library is in C, whatever uses it.
        self.settings.rm_safe("compiler.cppstd")
        self.settings.rm_safe("compiler.libcxx")
        if self.options.shared:
            self.options.rm_safe("fPIC")

    def layout(self):
        cmake_layout(self, src_folder="src")

    def source(self):
        get(self, **self.conan_data["sources"][self.version], strip_root=True)

    def generate(self):
        toolchain = CMakeToolchain(self)
        variables = toolchain.cache_variables
        variables["BUILD_SHARED_LIBS"] = bool(self.options.shared)
        variables["MI_BUILD_OBJECT"] = False
        variables["MI_INSTALL_TOPLEVEL"] = True
        variables["MI_INSTALL_TOOLS"] = False
        variables["MI_OVERRIDE"] = bool(self.options.override)
        variables["MI_GUARDED"] = bool(self.options.guarded)
        variables["MI_SECURE"] = str(self.options.secure).replace("True", "ON").replace("False", "OFF").upper()
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))
        rmdir(self, os.path.join(self.package_folder, "share"))

    def package_info(self):
        name = "mimalloc"
        if self.options.secure:
            name += "-secure"
        if self.options.guarded:
            name += "-guarded"
        if self.settings.build_type == "Debug":
            name += "-debug"
        shared = bool(self.options.shared)
        self.cpp_info.libs = [name]
        self.cpp_info.system_libs = ["pthread"]
        self.cpp_info.set_property("cmake_file_name", "mimalloc")
        self.cpp_info.set_property("cmake_target_name", "mimalloc::mimalloc")
        self.cpp_info.set_property("cmake_target_aliases", ["mimalloc"] if shared else ["mimalloc-static", "mimalloc::static"])
        self.cpp_info.set_property("pkg_config_name", name)
