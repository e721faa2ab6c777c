#!/bin/bash
# Variables become lines of the configuration (`_` is a dot, `__` an underscore); the first password is set on an empty volume.
set -euo pipefail
{
  echo server.default_listen_address=0.0.0.0
  env -0 | while IFS='=' read -r -d '' name value; do
    case "$name" in
      NEO4J_HOME | NEO4J_AUTH) ;;
      NEO4J_*) name="${name#NEO4J_}" && name="${name//__/@}" && name="${name//_/.}" && echo "${name//@/_}=$value" ;;
    esac
  done
} >conf/neo4j.conf
java=(java -Xms128m -XX:+UseSerialGC --add-opens=java.base/java.nio=ALL-UNNAMED --add-opens=java.base/java.io=ALL-UNNAMED
  --add-opens=java.base/sun.nio.ch=ALL-UNNAMED --add-modules=jdk.incubator.vector --enable-native-access=ALL-UNNAMED
  -Dio.netty.tryReflectionSetAccessible=true -Dlog4j2.disable.jmx=true -cp 'plugins/*:lib/*')
if [ ! -d /data/dbms ]; then
  NEO4J_CONF=conf "${java[@]}" org.neo4j.cli.AdminTool dbms set-initial-password "${NEO4J_AUTH#neo4j/}"
fi
exec "${java[@]}" "-Xmx$(sed -n 's/^server.memory.heap.max_size=//p' conf/neo4j.conf)" org.neo4j.server.CommunityEntryPoint "--home-dir=$NEO4J_HOME" "--config-dir=$NEO4J_HOME/conf" --console-mode
