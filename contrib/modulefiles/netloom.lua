-- netloom under /opt (docs/install.md), for Lmod: copy it to a folder of MODULEPATH as netloom/VERSION.lua.
help([[netloom: routes, loads, proofs and simulation for InfiniBand fat trees. `netloom --help` lists the verbs.]])
whatis("Name: netloom")
whatis("Version: " .. myModuleVersion())
whatis("URL: https://github.com/netloom/netloom")
conflict("netloom")
local base = pathJoin("/opt/netloom", myModuleVersion())
prepend_path("PATH", pathJoin(base, "bin"))
prepend_path("MANPATH", pathJoin(base, "share/man"))
