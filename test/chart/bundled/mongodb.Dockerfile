# MongoDB as the official image has it, as far as the chart relies on it: its user, its folders, its first start. For tests only.
ARG NODE_IMAGE
FROM ${NODE_IMAGE}
RUN apt-get update && apt-get install -y --no-install-recommends libcurl4 libssl3 procps && rm -rf /var/lib/apt/lists/*
RUN --mount=type=secret,id=npmrc,target=/run/secrets/npmrc,required=false \
    NPM_CONFIG_USERCONFIG=/run/secrets/npmrc npm install --global --omit=optional --no-audit --no-fund --cache /tmp/npm mongosh@2.5.0 \
 && rm -rf /tmp/npm
RUN groupadd --gid 999 mongodb && useradd --uid 999 --gid mongodb --home-dir /home/mongodb mongodb \
 && install -d -o 999 -g 999 /home/mongodb /data/db /data/configdb
COPY mongod /usr/local/bin/
COPY mongodb-entrypoint.sh /usr/local/bin/docker-entrypoint.sh
ENV HOME=/data/db
VOLUME /data/db /data/configdb
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["mongod"]
