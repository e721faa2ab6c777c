# Elasticsearch as the official image has it, as far as the chart relies on it: its user, its folders, who may write where. For tests only.
ARG NODE_IMAGE
FROM ${NODE_IMAGE}
RUN apt-get update && apt-get install -y --no-install-recommends curl && rm -rf /var/lib/apt/lists/*
RUN userdel node && groupadd --gid 1000 elasticsearch && useradd --uid 1000 --gid 1000 --groups root --home-dir /usr/share/elasticsearch elasticsearch
COPY jdk /opt/jdk
COPY elasticsearch /usr/share/elasticsearch
WORKDIR /usr/share/elasticsearch
# Variables with dots are settings there.
RUN sed -i 's/ES_DISTRIBUTION_TYPE=zip/ES_DISTRIBUTION_TYPE=docker/' bin/elasticsearch-env \
 && printf 'cluster.name: docker-cluster\nnetwork.host: 0.0.0.0\n' >config/elasticsearch.yml \
 && mkdir -p data logs plugins config/jvm.options.d \
 && find . -type d -exec chmod 0555 {} + && find . -type f -exec chmod 0444 {} + && chmod 0555 bin/* \
 && chmod 0775 . bin config config/jvm.options.d data logs plugins && find config -type f -exec chmod 0664 {} + \
 && chown elasticsearch bin config config/jvm.options.d data logs plugins
COPY elasticsearch-entrypoint.sh /usr/local/bin/docker-entrypoint.sh
ENV PATH=/usr/share/elasticsearch/bin:/usr/local/bin:/usr/bin:/bin ELASTIC_CONTAINER=true ES_JAVA_HOME=/opt/jdk
USER 1000:0
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["eswrapper"]
