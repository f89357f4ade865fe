"""netloom for Spack.

Put this file into a repository of yours as packages/py_netloom_hpc/package.py (packages/py-netloom-hpc in Spack
before 1.0), then `spack install py-netloom-hpc`. py-cyclopts is not among Spack's own packages: make its recipe beside
this one with `spack create -t python --name py-cyclopts` first.
"""

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class PyNetloomHpc(PythonPackage):
    """Better routes for InfiniBand fat trees, from the dump and the traffic that you have, with a proof of how
    good routes can be."""

    homepage = "https://github.com/netloom/netloom"
    git = "https://github.com/netloom/netloom.git"

    license("MIT OR Apache-2.0")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("plot", default=True, description="Draw pictures (Matplotlib)")
    variant("arrow", default=True, description="Read and write Parquet: runs, samples, traces (PyArrow)")
    variant("scipy", default=True, description="The closed loop, diagnosis, npz (SciPy)")

    depends_on("c", type="build")
    depends_on("python@3.10:", type=("build", "run"))
    depends_on("py-maturin@1.9:1", type="build")
    depends_on("rust@1.88:", type="build")
    depends_on("gmake", type="build")

    depends_on("py-cyclopts@4:5", type=("build", "run"))
    depends_on("py-rich@14:15", type=("build", "run"))
    depends_on("py-numpy@1.26:2", type=("build", "run"))
    depends_on("py-tomli@2:", when="^python@:3.10", type=("build", "run"))
    depends_on("py-tomlkit@0.13:0", type=("build", "run"))
    depends_on("py-matplotlib@3.8:3", when="+plot", type="run")
    depends_on("py-pyarrow@16:26 +parquet", when="+arrow", type="run")
    depends_on("py-scipy@1.11:1", when="+scipy", type="run")

    @run_before("install")
    def build_native(self):
        """The recorder's libraries and the dataplane's sources, which the wheel brings."""
        make("native", f"PYTHON={self.spec['python'].command.path}", f"CC={self.compiler.cc}")
