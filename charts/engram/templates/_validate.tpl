{{/* What the schema cannot say. All problems together. */}}
{{- define "engram.validate" -}}
{{- $values := .Values -}}
{{- $problems := list -}}
{{- if and $values.ingress.enabled $values.httpRoute.enabled }}{{ $problems = append $problems "ingress and httpRoute are both enabled: choose one" }}{{ end -}}
{{- if and $values.ingress.enabled (not $values.ingress.hosts) }}{{ $problems = append $problems "ingress.hosts is empty: name at least one host" }}{{ end -}}
{{- if and $values.httpRoute.enabled (not $values.httpRoute.parentRefs) }}{{ $problems = append $problems "httpRoute.parentRefs is empty: name at least one gateway" }}{{ end -}}
{{- $known := .Files.Get "files/settings.json" | fromJson -}}
{{- $own := list "ENGRAM_SERVICES" "SERVICES" "ENGRAM_STORES" "ENGRAM_DATA_DIR" "HTTP_API_HOST" "HTTP_API_PORT" "REQUIRE_AUTHENTICATION" "BACKGROUND_DRAIN_TIMEOUT_SECONDS" "DEFAULT_USER_EMAIL" "ENGRAM_SIGN_UP" "ENGRAM_PUBLIC_SIGN_UP" "ENGRAM_PUBLIC_URL" "ENGRAM_TRUSTED_PROXIES" "COGNEE_ENV_FILE" "ENGRAM_DOCUMENTS" "ENGRAM_BLOBS" "ENGRAM_INDEX" "ENGRAM_GRAPH" "ENGRAM_BUS" -}}
{{- $groups := dict "settings" $values.settings "operator.dedicated.settings" $values.operator.dedicated.settings -}}
{{- range $name, $service := $values.services }}{{ $_ := set $groups (printf "services.%s.settings" $name) (default dict (default dict $service).settings) }}{{ end -}}
{{- range $place, $settings := $groups -}}
{{- range $name, $value := $settings -}}
{{- if has $name $known.secret }}{{ $problems = append $problems (printf "%s.%s is a secret: refer to one in secretSettings" $place $name) }}
{{- else if or (has $name $own) (has $name $known.stores) }}{{ $problems = append $problems (printf "%s.%s is set by the chart's own values" $place $name) }}
{{- else if not (has $name $known.plain) }}{{ $problems = append $problems (printf "%s.%s is no setting of this release; other variables go to extraEnv" $place $name) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- $operatorOwn := list "ENGRAM_OPERATOR_NAMESPACE" "POD_NAMESPACE" "ENGRAM_OPERATOR_NAME" "POD_NAME" "ENGRAM_OPERATOR_HOST" "ENGRAM_OPERATOR_PORT" "ENGRAM_OPERATOR_LEASE" "ENGRAM_OPERATOR_WATCH_NAMESPACES" "ENGRAM_OPERATOR_TRUSTED_NAMESPACES" "ENGRAM_OPERATOR_SERVICES" "ENGRAM_OPERATOR_SERVICE_PORT" "ENGRAM_OPERATOR_DEDICATED_IMAGE" "ENGRAM_OPERATOR_DEDICATED_SETTINGS" "ENGRAM_OPERATOR_DEDICATED_PODS" "ENGRAM_OPERATOR_DEDICATED_NETWORK" "ENGRAM_OPERATOR_NEO4J_USER" "ENGRAM_OPERATOR_S3_BUCKETS" "ENGRAM_OPERATOR_KUBECONFIG" "KUBERNETES_SERVICE_HOST" "KUBERNETES_SERVICE_PORT" -}}
{{- range $name, $value := $values.operator.settings -}}
{{- if has $name $operatorOwn }}{{ $problems = append $problems (printf "operator.settings.%s is set by the chart's own values" $name) }}
{{- else if not (or (has $name $known.operator) (has $name $known.plain)) }}{{ $problems = append $problems (printf "operator.settings.%s is no setting of the operator; other variables go to extraEnv" $name) }}{{ end -}}
{{- end -}}
{{- range $name, $from := $values.secretSettings -}}
{{- if and (hasPrefix "ENGRAM_" $name) (or (has $name $known.stores) (regexMatch "^ENGRAM_(MONGODB|ELASTICSEARCH|NEO4J|NATS|S3|KAFKA|OPERATOR)_|^ENGRAM_ROOT_KEYS$" $name)) }}{{ $problems = append $problems (printf "secretSettings.%s is set by the chart's own values" $name) }}
{{- else if not (or (has $name $known.secret) (has $name $known.plain)) }}{{ $problems = append $problems (printf "secretSettings.%s is no setting of this release" $name) }}{{ end -}}
{{- end -}}
{{- range $key, $change := $values.objects -}}
{{- if not (include "engram.isObject" (dict "root" $ "key" $key)) }}{{ $problems = append $problems (printf "objects.%s is no object of this chart: say Deployment/search, by kind and component" $key) }}{{ end -}}
{{- end -}}
{{- range $place := list "externalS3" "externalKafka" -}}
{{- $external := index $values $place -}}
{{- $what := ternary "bucket" "brokers" (eq $place "externalS3") -}}
{{- if and (or $external.existingSecret $external.url) (not (index $external $what)) }}{{ $problems = append $problems (printf "%s.%s is empty: the rest of %s means nothing" $place $what $place) }}{{ end -}}
{{- end -}}
{{- if regexMatch "://[^/]*@" (default "" $values.externalS3.url) }}{{ $problems = append $problems "externalS3.url has credentials: they go to a Secret" }}{{ end -}}
{{- if and $values.operator.dedicated.enabled (not (include "engram.operatorRuns" .)) }}{{ $problems = append $problems "operator.dedicated.enabled needs operator.enabled and shape: cluster" }}{{ end -}}
{{- if and $values.operator.dedicated.s3Buckets (not $values.operator.dedicated.enabled) }}{{ $problems = append $problems "operator.dedicated.s3Buckets needs operator.dedicated.enabled" }}{{ end -}}
{{- if eq $values.shape "embedded" -}}
{{- range $place := list "externalMongodb" "externalElasticsearch" "externalNeo4j" "externalNats" "externalS3" "externalKafka" -}}
{{- $external := index $values $place -}}
{{- if or $external.url $external.existingSecret $external.bucket $external.brokers }}{{ $problems = append $problems (printf "%s means nothing with shape: embedded, which keeps everything in its volume" $place) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if eq $values.shape "cluster" -}}
{{- $bundled := dict "mongodb" $values.mongodb.enabled "elasticsearch" $values.elasticsearch.enabled "neo4j" $values.neo4j.enabled "nats" $values.nats.enabled -}}
{{- range $store, $isBundled := $bundled -}}
{{- $place := printf "external%s" (dict "mongodb" "Mongodb" "elasticsearch" "Elasticsearch" "neo4j" "Neo4j" "nats" "Nats" | dig $store "") -}}
{{- $external := index $values $place -}}
{{- $isExternal := or $external.url (and (eq $store "mongodb") $external.existingSecret) -}}
{{- if and $isBundled $isExternal }}{{ $problems = append $problems (printf "%s.enabled and %s are both set: choose one" $store $place) }}{{ end -}}
{{- if not (or $isBundled $isExternal) }}{{ $problems = append $problems (printf "there is no %s: set %s.enabled or %s" $store $store $place) }}{{ end -}}
{{- if regexMatch "://[^/]*@" (default "" $external.url) }}{{ $problems = append $problems (printf "%s.url has credentials: they go to a Secret" $place) }}{{ end -}}
{{- end -}}
{{- $isAllBundled := and $values.mongodb.enabled $values.elasticsearch.enabled $values.neo4j.enabled $values.nats.enabled -}}
{{- if and $values.operator.dedicated.enabled (not $isAllBundled) (not $values.operator.dedicated.existingSecret) }}{{ $problems = append $problems "operator.dedicated.existingSecret is empty: name a Secret with administrators of the external stores" }}{{ end -}}
{{- $hasLogins := or (and $values.externalS3.bucket $values.externalS3.existingSecret) (and $values.externalKafka.brokers $values.externalKafka.existingSecret) -}}
{{- if and $values.operator.dedicated.enabled $isAllBundled $hasLogins (not $values.operator.dedicated.existingSecret) }}{{ $problems = append $problems "operator.dedicated.existingSecret is empty: name a Secret with logins of S3 and Kafka for Dedicated tenants, who are given them" }}{{ end -}}
{{- if and $values.operator.dedicated.s3Buckets (not $values.externalS3.bucket) }}{{ $problems = append $problems "operator.dedicated.s3Buckets needs externalS3" }}{{ end -}}
{{- if and (not $values.nats.enabled) (ne $values.externalNats.authentication "none") (not $values.externalNats.existingSecret) }}{{ $problems = append $problems "externalNats.authentication needs externalNats.existingSecret" }}{{ end -}}
{{- range $name := include "engram.services" . | fromJsonArray -}}
{{- $scaling := (include "engram.componentSettings" (dict "root" $ "component" $name) | fromJson).autoscaling -}}
{{- if and (eq $scaling.type "keda") (not $scaling.triggers) }}{{ $problems = append $problems (printf "services.%s.autoscaling.triggers is empty: keda needs one" $name) }}{{ end -}}
{{- if gt (int $scaling.minReplicas) (int $scaling.maxReplicas) }}{{ $problems = append $problems (printf "services.%s.autoscaling.minReplicas is above maxReplicas" $name) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if $problems }}{{ fail (printf "\n\nThese values do not go together:\n- %s\n" (join "\n- " $problems)) }}{{ end -}}
{{- end -}}

{{/* dict root component → `defaults` with the component's own values, as JSON. */}}
{{- define "engram.componentSettings" -}}
{{- $defaults := deepCopy .root.Values.defaults -}}
{{- $own := dict -}}
{{- if hasKey .root.Values.services .component }}{{ $own = default dict (index .root.Values.services .component) }}{{ else }}{{ $own = default dict (index .root.Values .component) }}{{ end -}}
{{- toJson (mergeOverwrite $defaults (deepCopy $own)) -}}
{{- end -}}
