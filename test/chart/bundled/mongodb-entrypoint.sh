#!/bin/bash
# On an empty volume the root user is made first, on a server without a replica set that nobody outside reaches.
set -euo pipefail
if [ "${1:-}" = mongod ] && [ ! -e /data/db/WiredTiger ]; then
  mongod --dbpath /data/db --bind_ip 127.0.0.1 --port 27017 --fork --logpath "/proc/$$/fd/1" --logappend --pidfilepath /tmp/mongod.pid
  mongosh --quiet --host 127.0.0.1 admin --eval '
    const { MONGO_INITDB_ROOT_USERNAME: user, MONGO_INITDB_ROOT_PASSWORD: pwd } = process.env;
    db.createUser({ user, pwd, roles: [{ role: "root", db: "admin" }] })'
  mongod --dbpath /data/db --shutdown
fi
unset "${!MONGO_INITDB_@}"
exec "$@"
