# Neo4j as the official image has it, as far as the chart relies on it: its user, its folders, its variables. For tests only.
ARG NODE_IMAGE
FROM ${NODE_IMAGE}
RUN groupadd --gid 7474 neo4j && useradd --uid 7474 --gid 7474 --no-create-home --home-dir /var/lib/neo4j neo4j
COPY jdk /opt/jdk
COPY lib /var/lib/neo4j/lib
WORKDIR /var/lib/neo4j
RUN mkdir -p conf plugins import run /data /logs && ln -s /data data && ln -s /logs logs \
 && chown -R 7474:7474 . /data /logs && chmod 777 . conf plugins import run /data /logs
COPY neo4j-entrypoint.sh /startup/docker-entrypoint.sh
ENV NEO4J_HOME=/var/lib/neo4j JAVA_HOME=/opt/jdk PATH=/opt/jdk/bin:/usr/local/bin:/usr/bin:/bin
VOLUME /data /logs
ENTRYPOINT ["/startup/docker-entrypoint.sh"]
CMD ["neo4j"]
