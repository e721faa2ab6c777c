#!/bin/bash
# The password of the user elastic goes into the keystore, which is made anew with the container.
set -euo pipefail
umask 0002
if [ -n "${ELASTIC_PASSWORD:-}" ]; then
  [ -f config/elasticsearch.keystore ] || elasticsearch-keystore create
  elasticsearch-keystore list | grep -q '^bootstrap.password$' || echo "$ELASTIC_PASSWORD" | elasticsearch-keystore add -x bootstrap.password
fi
exec elasticsearch
