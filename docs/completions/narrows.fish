complete --keep-order --exclusive --command narrows --arguments "(COMPLETE=fish narrows -- (commandline --current-process --tokenize --cut-at-cursor) (commandline --current-token))"
