#%Module1.0
# netloom under /opt (docs/install.md), for Environment Modules: copy it to a folder of MODULEPATH as netloom/VERSION.
proc ModulesHelp {} {
    puts stderr "netloom: routes, loads, proofs and simulation for InfiniBand fat trees. `netloom --help` lists the verbs."
}
module-whatis "netloom: better routes for InfiniBand fat trees, with a proof of how good routes can be"
conflict netloom
set version [file tail [module-info name]]
set base /opt/netloom/$version
prepend-path PATH $base/bin
prepend-path MANPATH $base/share/man
