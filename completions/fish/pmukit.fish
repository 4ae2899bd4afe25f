# fish completion for pmukit; made by completions/generate
function __pmukit_long
	__fish_use_subcommand; and string match -q "pmu*" -- (commandline -ct)
end
function __pmukit_tool
	set -l words (commandline -opc)[2..-1] (commandline -ct)
	set words[1] pmu-(string replace -r "^pmu-" "" -- $words[1])
	complete -C "$words"
end
complete -c pmukit -l link -n __fish_use_subcommand -x -a '(__fish_complete_directories)' -d 'make the name of each tool in DIR a link to this file'
complete -c pmukit -l quiet -n __fish_use_subcommand -s q -d 'print no messages; only the exit status shows errors'
complete -c pmukit -l verbose -n __fish_use_subcommand -s v -d 'print a summary of counts and costs at the end'
complete -c pmukit -l help -n __fish_use_subcommand -s h -d 'print this help'
complete -c pmukit -l version -n __fish_use_subcommand -s V -d 'print the version; with -v, what it is built from'
complete -c pmukit -n __fish_use_subcommand -f -a annotate -d 'show the cost of source lines and instructions'
complete -c pmukit -n __pmukit_long -f -a pmu-annotate -d 'show the cost of source lines and instructions'
complete -c pmukit -n __fish_use_subcommand -f -a branch -d 'count branches and executed code, for compilers and for people'
complete -c pmukit -n __pmukit_long -f -a pmu-branch -d 'count branches and executed code, for compilers and for people'
complete -c pmukit -n __fish_use_subcommand -f -a data -d 'show which data a program accesses, and where accesses cost time'
complete -c pmukit -n __pmukit_long -f -a pmu-data -d 'show which data a program accesses, and where accesses cost time'
complete -c pmukit -n __fish_use_subcommand -f -a diff -d 'find the functions that changed between profiles'
complete -c pmukit -n __pmukit_long -f -a pmu-diff -d 'find the functions that changed between profiles'
complete -c pmukit -n __fish_use_subcommand -f -a events -d 'list, encode and test events'
complete -c pmukit -n __pmukit_long -f -a pmu-events -d 'list, encode and test events'
complete -c pmukit -n __fish_use_subcommand -f -a flame -d 'show a profile as a flame graph, in one HTML file'
complete -c pmukit -n __pmukit_long -f -a pmu-flame -d 'show a profile as a flame graph, in one HTML file'
complete -c pmukit -n __fish_use_subcommand -f -a prof -d 'profile a command or process: a pprof profile, a page and a table'
complete -c pmukit -n __pmukit_long -f -a pmu-prof -d 'profile a command or process: a pprof profile, a page and a table'
complete -c pmukit -n __fish_use_subcommand -f -a sample -d 'sample processes or a command by hardware events'
complete -c pmukit -n __pmukit_long -f -a pmu-sample -d 'sample processes or a command by hardware events'
complete -c pmukit -n __fish_use_subcommand -f -a serve -d 'serve profiles by HTTP'
complete -c pmukit -n __pmukit_long -f -a pmu-serve -d 'serve profiles by HTTP'
complete -c pmukit -n __fish_use_subcommand -f -a stat -d 'count events of a command, processes or the whole machine'
complete -c pmukit -n __pmukit_long -f -a pmu-stat -d 'count events of a command, processes or the whole machine'
complete -c pmukit -n __fish_use_subcommand -f -a stream -d 'show, check, select, join and convert streams'
complete -c pmukit -n __pmukit_long -f -a pmu-stream -d 'show, check, select, join and convert streams'
complete -c pmukit -n __fish_use_subcommand -f -a symbolize -d 'resolve the addresses in a stream to functions'
complete -c pmukit -n __pmukit_long -f -a pmu-symbolize -d 'resolve the addresses in a stream to functions'
complete -c pmukit -n __fish_use_subcommand -f -a top -d 'show where the samples of a profile or stream are'
complete -c pmukit -n __pmukit_long -f -a pmu-top -d 'show where the samples of a profile or stream are'
complete -c pmukit -n __fish_use_subcommand -f -a topprof -d 'aggregate a stream to a pprof profile; merge profiles'
complete -c pmukit -n __pmukit_long -f -a pmu-topprof -d 'aggregate a stream to a pprof profile; merge profiles'
complete -c pmukit -n __fish_use_subcommand -f -a unwind -d 'turn copies of stacks into callchains'
complete -c pmukit -n __pmukit_long -f -a pmu-unwind -d 'turn copies of stacks into callchains'
complete -c pmukit -n 'not __fish_use_subcommand' -f -a '(__pmukit_tool)'
