# fish completion for pmu-top; made by completions/generate
complete -c pmu-top -l cum -s c -d 'sort by what functions cost with all they call'
complete -c pmu-top -l rows -s n -x -d 'show COUNT functions (20)'
complete -c pmu-top -l type -s t -x -d 'sum up this sample type, such as samples'
complete -c pmu-top -l input -s i -r -F -d 'read FILE, as if it were an operand'
complete -c pmu-top -l quiet -s q -d 'print no messages; only the exit status shows errors'
complete -c pmu-top -l verbose -s v -d 'print a summary of counts and costs at the end'
complete -c pmu-top -l help -s h -d 'print this help'
complete -c pmu-top -l version -s V -d 'print the version'
