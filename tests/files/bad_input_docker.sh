#!/bin/sh
# Stands for a docker that has one image and reaches no registry.
for word do
    shift
    [ "$word" = lab/good:1 ] && exec "$@"
    if [ "$word" = lab/absent:1 ]; then
        echo "Unable to find image 'lab/absent:1' locally" >&2
        echo "docker: Error response from daemon: pull access denied for lab/absent, repository does not exist." >&2
        exit 125
    fi
done
