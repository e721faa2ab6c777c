{{/* dict name secret key [optional]: a variable from a Secret. */}}
{{- define "engram.secretVariable" -}}
- name: {{ .name }}
  valueFrom: { secretKeyRef: { name: {{ .secret }}, key: {{ .key }}{{ if .optional }}, optional: true{{ end }} } }
{{- end -}}

{{- define "engram.variable" -}}
- name: {{ .name }}
  value: {{ .value | toString | quote }}
{{- end -}}

{{/* Variables that every process of Engram has. dict root user (service or operator) [settings (its own)]. */}}
{{- define "engram.commonVariables" -}}
{{- $root := .root -}}
- { name: ENGRAM_DATA_DIR, value: /data }
{{- if eq $root.Values.shape "cluster" }}
- { name: ENGRAM_STORES, value: cluster }
{{ include "engram.storeVariables" . }}
{{- end }}
{{- range $name, $value := mergeOverwrite (deepCopy $root.Values.settings) (deepCopy (default dict .settings)) }}
{{ include "engram.variable" (dict "name" $name "value" $value) }}
{{- end }}
{{- range $name, $from := $root.Values.secretSettings }}
{{ include "engram.secretVariable" (dict "name" $name "secret" $from.name "key" $from.key) }}
{{- end }}
{{- end -}}

{{/* Variables of the services' HTTP side. dict root services (list). */}}
{{- define "engram.serviceVariables" -}}
{{- $root := .root -}}
{{- $secret := include "engram.secretName" $root -}}
- { name: HTTP_API_HOST, value: 0.0.0.0 }
- { name: HTTP_API_PORT, value: "8000" }
- { name: REQUIRE_AUTHENTICATION, value: "true" }
- { name: BACKGROUND_DRAIN_TIMEOUT_SECONDS, value: {{ $root.Values.shutdown.drainSeconds | quote }} }
- { name: DEFAULT_USER_EMAIL, value: {{ $root.Values.defaultUser.email | quote }} }
- { name: ENGRAM_SIGN_UP, value: {{ ternary "open" "closed" $root.Values.publicSignUp }} }
{{- if and (include "engram.operatorRuns" $root) (not (hasKey $root.Values.settings "ENGRAM_HOSTED")) }}
{{- /* Host names of Tenant resources select the tenant. */}}
- { name: ENGRAM_HOSTED, value: "true" }
{{- end }}
{{- with $root.Values.publicUrl }}
- { name: ENGRAM_PUBLIC_URL, value: {{ . | quote }} }
{{- end }}
{{- with $root.Values.trustedProxies }}
- { name: ENGRAM_TRUSTED_PROXIES, value: {{ join "," . | quote }} }
{{- end }}
{{- if and (eq $root.Values.shape "cluster") (has "integrations" .services) }}
{{- /* It calls the API for MCP clients. */}}
{{- $urls := dict }}
{{- range include "engram.services" $root | fromJsonArray }}{{ $_ := set $urls . (printf "http://%s:%d" (include "engram.name" (dict "root" $root "component" .)) (int $root.Values.service.port)) }}{{ end }}
- { name: ENGRAM_SERVICE_URLS, value: {{ toJson $urls | quote }} }
{{- end }}
{{ include "engram.secretVariable" (dict "name" "ENGRAM_ROOT_KEYS" "secret" $secret "key" "ENGRAM_ROOT_KEYS") }}
{{- if has "auth" .services }}
{{ include "engram.secretVariable" (dict "name" "FASTAPI_USERS_JWT_SECRET" "secret" $secret "key" "FASTAPI_USERS_JWT_SECRET") }}
{{- if $root.Values.defaultUser.enabled }}
{{ include "engram.secretVariable" (dict "name" "DEFAULT_USER_PASSWORD" "secret" $secret "key" "DEFAULT_USER_PASSWORD" "optional" true) }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Where the servers are. Credentials only by reference. dict root user. */}}
{{- define "engram.storeVariables" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
{{- if $values.mongodb.enabled }}
{{ include "engram.secretVariable" (dict "name" "ENGRAM_MONGODB_URL" "secret" (include "engram.name" (dict "root" $root "component" "mongodb" "max" 52)) "key" "url") }}
{{- else if $values.externalMongodb.existingSecret }}
{{ include "engram.secretVariable" (dict "name" "ENGRAM_MONGODB_URL" "secret" $values.externalMongodb.existingSecret "key" $values.externalMongodb.urlKey) }}
{{- else }}
- { name: ENGRAM_MONGODB_URL, value: {{ $values.externalMongodb.url | quote }} }
{{- end }}
- { name: ENGRAM_MONGODB_DATABASE, value: {{ $values.externalMongodb.database | quote }} }
{{- if $values.elasticsearch.enabled }}
{{- $name := include "engram.name" (dict "root" $root "component" "elasticsearch" "max" 52) }}
- { name: ENGRAM_ELASTICSEARCH_URL, value: "http://{{ $name }}:9200" }
- { name: ENGRAM_ELASTICSEARCH_USER, value: elastic }
{{ include "engram.secretVariable" (dict "name" "ENGRAM_ELASTICSEARCH_PASSWORD" "secret" $name "key" "password") }}
- { name: ENGRAM_ELASTICSEARCH_REPLICAS, value: "0" }
{{- else }}
{{- with $values.externalElasticsearch }}
- { name: ENGRAM_ELASTICSEARCH_URL, value: {{ .url | quote }} }
{{- if .existingSecret }}
{{- if .apiKeyKey }}
{{ include "engram.secretVariable" (dict "name" "ENGRAM_ELASTICSEARCH_API_KEY" "secret" .existingSecret "key" .apiKeyKey) }}
{{- else }}
{{ include "engram.secretVariable" (dict "name" "ENGRAM_ELASTICSEARCH_USER" "secret" .existingSecret "key" .usernameKey) }}
{{ include "engram.secretVariable" (dict "name" "ENGRAM_ELASTICSEARCH_PASSWORD" "secret" .existingSecret "key" .passwordKey) }}
{{- end }}
{{- end }}
{{- if .ca }}
- { name: ENGRAM_ELASTICSEARCH_CA_FILE, value: /authorities/elasticsearch/ca.crt }
{{- end }}
- { name: ENGRAM_ELASTICSEARCH_INDEX_PREFIX, value: {{ .indexPrefix | quote }} }
- { name: ENGRAM_ELASTICSEARCH_REPLICAS, value: {{ .replicas | quote }} }
{{- end }}
{{- end }}
{{- if $values.neo4j.enabled }}
{{- $name := include "engram.name" (dict "root" $root "component" "neo4j" "max" 52) }}
- { name: ENGRAM_NEO4J_URL, value: "bolt://{{ $name }}:7687" }
- { name: ENGRAM_NEO4J_USER, value: neo4j }
{{ include "engram.secretVariable" (dict "name" "ENGRAM_NEO4J_PASSWORD" "secret" $name "key" "password") }}
{{- else }}
{{- with $values.externalNeo4j }}
- { name: ENGRAM_NEO4J_URL, value: {{ .url | quote }} }
{{- if .existingSecret }}
{{ include "engram.secretVariable" (dict "name" "ENGRAM_NEO4J_USER" "secret" .existingSecret "key" .usernameKey) }}
{{ include "engram.secretVariable" (dict "name" "ENGRAM_NEO4J_PASSWORD" "secret" .existingSecret "key" .passwordKey) }}
{{- end }}
{{- end }}
{{- end }}
{{ include "engram.natsVariables" . }}
{{ include "engram.fileStoreVariables" . }}
{{ include "engram.kafkaVariables" . }}
{{- end -}}

{{- define "engram.natsVariables" -}}
{{- $values := .root.Values -}}
{{- if $values.nats.enabled }}
{{- $name := include "engram.name" (dict "root" .root "component" "nats" "max" 52) }}
- { name: ENGRAM_NATS_URL, value: "nats://{{ $name }}:4222" }
- { name: ENGRAM_NATS_USER, value: {{ .user }} }
{{ include "engram.secretVariable" (dict "name" "ENGRAM_NATS_PASSWORD" "secret" $name "key" .user) }}
{{- else }}
{{- $nats := $values.externalNats }}
- { name: ENGRAM_NATS_URL, value: {{ $nats.url | quote }} }
{{- if eq $nats.authentication "shared" }}
{{ include "engram.secretVariable" (dict "name" "ENGRAM_NATS_USER" "secret" $nats.existingSecret "key" "username") }}
{{ include "engram.secretVariable" (dict "name" "ENGRAM_NATS_PASSWORD" "secret" $nats.existingSecret "key" "password") }}
{{- else if eq $nats.authentication "perService" }}
{{ include "engram.secretVariable" (dict "name" "ENGRAM_NATS_USER" "secret" $nats.existingSecret "key" (printf "%s-username" .user)) }}
{{ include "engram.secretVariable" (dict "name" "ENGRAM_NATS_PASSWORD" "secret" $nats.existingSecret "key" (printf "%s-password" .user)) }}
{{- else if eq $nats.authentication "credentials" }}
- { name: ENGRAM_NATS_CREDENTIALS_FILE, value: /credentials/nats/user.creds }
{{- end }}
{{- if $nats.ca }}
- { name: ENGRAM_NATS_CA_FILE, value: /authorities/nats/ca.crt }
{{- end }}
- { name: ENGRAM_NATS_SUBJECT_PREFIX, value: {{ $nats.subjectPrefix | quote }} }
{{- end }}
{{- end -}}

{{/* dict root [credentials: a Secret with s3AccessKey and s3SecretKey, in place of the installation's own] */}}
{{- define "engram.fileStoreVariables" -}}
{{- $values := .root.Values -}}
{{- with $values.externalS3 }}
{{- if .bucket }}
- { name: ENGRAM_S3_BUCKET, value: {{ .bucket | quote }} }
- { name: ENGRAM_S3_REGION, value: {{ .region | quote }} }
{{- if .url }}
- { name: ENGRAM_S3_URL, value: {{ .url | quote }} }
{{- end }}
{{- if .prefix }}
- { name: ENGRAM_S3_PREFIX, value: {{ .prefix | quote }} }
{{- end }}
{{- if and .existingSecret $.credentials }}
{{ include "engram.secretVariable" (dict "name" "ENGRAM_S3_ACCESS_KEY" "secret" $.credentials "key" "s3AccessKey") }}
{{ include "engram.secretVariable" (dict "name" "ENGRAM_S3_SECRET_KEY" "secret" $.credentials "key" "s3SecretKey") }}
{{- else if .existingSecret }}
{{ include "engram.secretVariable" (dict "name" "ENGRAM_S3_ACCESS_KEY" "secret" .existingSecret "key" .accessKeyKey) }}
{{ include "engram.secretVariable" (dict "name" "ENGRAM_S3_SECRET_KEY" "secret" .existingSecret "key" .secretKeyKey) }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* dict root [credentials: a Secret with kafkaUser and kafkaPassword, in place of the installation's own] */}}
{{- define "engram.kafkaVariables" -}}
{{- $values := .root.Values -}}
{{- with $values.externalKafka }}
{{- if .brokers }}
- { name: ENGRAM_KAFKA_BROKERS, value: {{ join "," .brokers | quote }} }
- { name: ENGRAM_KAFKA_TOPIC_PREFIX, value: {{ .topicPrefix | quote }} }
{{- if and .existingSecret $.credentials }}
{{ include "engram.secretVariable" (dict "name" "ENGRAM_KAFKA_USER" "secret" $.credentials "key" "kafkaUser") }}
{{ include "engram.secretVariable" (dict "name" "ENGRAM_KAFKA_PASSWORD" "secret" $.credentials "key" "kafkaPassword") }}
{{- else if .existingSecret }}
{{ include "engram.secretVariable" (dict "name" "ENGRAM_KAFKA_USER" "secret" .existingSecret "key" .usernameKey) }}
{{ include "engram.secretVariable" (dict "name" "ENGRAM_KAFKA_PASSWORD" "secret" .existingSecret "key" .passwordKey) }}
{{- end }}
{{- if .ca }}
- { name: ENGRAM_KAFKA_CA_FILE, value: /authorities/kafka/ca.crt }
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
