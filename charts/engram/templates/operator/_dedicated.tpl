{{/* What the operator needs for Tenants with `isolation: Dedicated`: the image, how their pods are made, administrators of stores. */}}
{{- define "engram.dedicatedVariables" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
{{- $secret := $values.operator.dedicated.existingSecret -}}
{{- $at := printf "%s.svc" $root.Release.Namespace -}}
- { name: ENGRAM_OPERATOR_DEDICATED_IMAGE, value: {{ include "engram.ownImage" $root | quote }} }
- { name: ENGRAM_OPERATOR_DEDICATED_SETTINGS, value: {{ include "engram.dedicatedSettings" $root | quote }} }
- { name: ENGRAM_OPERATOR_DEDICATED_PODS, value: {{ include "engram.dedicatedPods" $root | quote }} }
- { name: ENGRAM_OPERATOR_DEDICATED_NETWORK, value: {{ include "engram.dedicatedNetwork" $root | quote }} }
{{- if $values.mongodb.enabled }}
{{- $name := include "engram.name" (dict "root" $root "component" "mongodb" "max" 52) }}
{{ include "engram.secretVariable" (dict "name" "STORE_PASSWORD_MONGODB" "secret" $name "key" "password") }}
{{- /* Of a set of one, whose member is known by a name of this namespace only. */}}
- { name: ENGRAM_OPERATOR_MONGODB_URL, value: "mongodb://root:$(STORE_PASSWORD_MONGODB)@{{ $name }}.{{ $at }}:27017/?directConnection=true&authSource=admin" }
{{- else }}
{{ include "engram.secretVariable" (dict "name" "ENGRAM_OPERATOR_MONGODB_URL" "secret" $secret "key" "mongodbUrl") }}
{{- end }}
{{- if $values.elasticsearch.enabled }}
{{- $name := include "engram.name" (dict "root" $root "component" "elasticsearch" "max" 52) }}
{{ include "engram.secretVariable" (dict "name" "STORE_PASSWORD_ELASTICSEARCH" "secret" $name "key" "password") }}
- { name: ENGRAM_OPERATOR_ELASTICSEARCH_URL, value: "http://elastic:$(STORE_PASSWORD_ELASTICSEARCH)@{{ $name }}.{{ $at }}:9200" }
- { name: ENGRAM_ELASTICSEARCH_REPLICAS, value: "0" }
{{- else }}
{{ include "engram.secretVariable" (dict "name" "ENGRAM_OPERATOR_ELASTICSEARCH_URL" "secret" $secret "key" "elasticsearchUrl") }}
- { name: ENGRAM_ELASTICSEARCH_REPLICAS, value: {{ $values.externalElasticsearch.replicas | quote }} }
{{- if $values.externalElasticsearch.ca }}
- { name: ENGRAM_ELASTICSEARCH_CA_FILE, value: /authorities/elasticsearch/ca.crt }
{{- end }}
{{- end }}
{{- if $values.neo4j.enabled }}
{{- $name := include "engram.name" (dict "root" $root "component" "neo4j" "max" 52) }}
- { name: ENGRAM_NEO4J_URL, value: "bolt://{{ $name }}.{{ $at }}:7687" }
- { name: ENGRAM_OPERATOR_NEO4J_USER, value: neo4j }
{{ include "engram.secretVariable" (dict "name" "ENGRAM_OPERATOR_NEO4J_PASSWORD" "secret" $name "key" "password") }}
{{- else }}
- { name: ENGRAM_NEO4J_URL, value: {{ $values.externalNeo4j.url | quote }} }
{{ include "engram.secretVariable" (dict "name" "ENGRAM_OPERATOR_NEO4J_USER" "secret" $secret "key" "neo4jUser") }}
{{ include "engram.secretVariable" (dict "name" "ENGRAM_OPERATOR_NEO4J_PASSWORD" "secret" $secret "key" "neo4jPassword") }}
{{- end }}
{{- if $values.nats.enabled }}
{{- $name := include "engram.name" (dict "root" $root "component" "nats" "max" 52) }}
{{ include "engram.secretVariable" (dict "name" "STORE_PASSWORD_NATS" "secret" $name "key" "dedicated") }}
- { name: ENGRAM_OPERATOR_NATS_URL, value: "nats://dedicated:$(STORE_PASSWORD_NATS)@{{ $name }}.{{ $at }}:4222" }
{{- else }}
{{ include "engram.secretVariable" (dict "name" "ENGRAM_OPERATOR_NATS_URL" "secret" $secret "key" "natsUrl") }}
{{- end }}
{{- /* Their services get these, and who reads their Secrets: never what opens the files and events of everybody. */}}
{{ include "engram.fileStoreVariables" (dict "root" $root "credentials" $secret) }}
{{- if $values.operator.dedicated.s3Buckets }}
- { name: ENGRAM_OPERATOR_S3_BUCKETS, value: "true" }
{{- end }}
{{ include "engram.kafkaVariables" (dict "root" $root "credentials" $secret) }}
{{- end -}}

{{- define "engram.dedicatedSettings" -}}
{{- $settings := mergeOverwrite (deepCopy .Values.settings) (deepCopy .Values.operator.dedicated.settings) -}}
{{- with .Values.trustedProxies }}{{ $_ := set $settings "ENGRAM_TRUSTED_PROXIES" (join "," .) }}{{ end -}}
{{- range $name, $value := $settings }}{{ $_ := set $settings $name (toString $value) }}{{ end -}}
{{- toJson $settings -}}
{{- end -}}

{{/* Pod template of their services. The operator sets what differs from tenant to tenant: names, labels, variables, resources. */}}
{{- define "engram.dedicatedPods" -}}
{{- $settings := omit .Values.defaults "extraEnv" "extraEnvFrom" "extraVolumes" "extraVolumeMounts" "extraContainers" "extraInitContainers" -}}
{{- $env := printf "- { name: BACKGROUND_DRAIN_TIMEOUT_SECONDS, value: %q }" (toString .Values.shutdown.drainSeconds) -}}
{{- $pod := include "engram.pod" (dict "root" . "component" "service" "settings" $settings "args" (list "services/start.mjs") "env" $env "probes" true "serviceAccount" "services" "bare" true) | fromYaml -}}
{{- toJson (dict "metadata" (dict "labels" $settings.podLabels "annotations" $settings.podAnnotations) "spec" $pod.spec) -}}
{{- end -}}

{{/* Peers without a namespace would be of the tenant's: these are of this release's. */}}
{{- define "engram.dedicatedNetwork" -}}
{{- $home := dict "matchLabels" (dict "kubernetes.io/metadata.name" .Release.Namespace) -}}
{{- $clients := list -}}
{{- range concat .Values.networkPolicy.clients (ternary .Values.networkPolicy.monitoring list (not (empty .Values.networkPolicy.clients))) -}}
{{- $clients = append $clients (ternary . (merge (dict "namespaceSelector" $home) .) (or (hasKey . "ipBlock") (hasKey . "namespaceSelector"))) -}}
{{- end -}}
{{- $stores := list -}}
{{- $values := .Values -}}
{{- $root := . -}}
{{- range $store, $port := dict "mongodb" 27017 "elasticsearch" 9200 "neo4j" 7687 "nats" 4222 -}}
{{- if (index $values $store).enabled -}}
{{- $labels := include "engram.selector" (dict "root" $root "component" $store) | fromYaml -}}
{{- $stores = append $stores (dict "to" (list (dict "namespaceSelector" $home "podSelector" (dict "matchLabels" $labels))) "ports" (list (dict "port" $port "protocol" "TCP"))) -}}
{{- end -}}
{{- end -}}
{{- $outside := list -}}
{{- range $values.networkPolicy.egressPorts }}{{ if not (has (int .) (list 443 6443)) }}{{ $outside = append $outside (dict "port" (int .) "protocol" "TCP") }}{{ end }}{{ end -}}
{{- if and $outside (not (and $values.mongodb.enabled $values.elasticsearch.enabled $values.neo4j.enabled $values.nats.enabled (not $values.externalS3.bucket) (not $values.externalKafka.brokers))) -}}
{{- $rule := dict "ports" $outside -}}
{{- if $values.networkPolicy.egressCIDRs -}}
{{- $blocks := list }}{{ range $values.networkPolicy.egressCIDRs }}{{ $blocks = append $blocks (dict "ipBlock" (dict "cidr" .)) }}{{ end -}}
{{- $_ := set $rule "to" $blocks -}}
{{- end -}}
{{- $stores = append $stores $rule -}}
{{- end -}}
{{- toJson (dict "clients" $clients "stores" $stores) -}}
{{- end -}}
