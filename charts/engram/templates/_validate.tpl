{{/* What the schema cannot say. All problems together. */}}
{{- define "engram.validate" -}}
{{- $values := .Values -}}
{{- $problems := list -}}
{{- if and $values.ingress.enabled $values.httpRoute.enabled }}{{ $problems = append $problems "ingress and httpRoute are both enabled: choose one" }}{{ end -}}
{{- if and $values.ingress.enabled (not $values.ingress.hosts) }}{{ $problems = append $problems "ingress.hosts is empty: name at least one host" }}{{ end -}}
{{- if and $values.httpRoute.enabled (not $values.httpRoute.parentRefs) }}{{ $problems = append $problems "httpRoute.parentRefs is empty: name at least one gateway" }}{{ end -}}
{{- $known := .Files.Get "files/settings.json" | fromJson -}}
{{- $own := list "ENGRAM_SERVICES" "SERVICES" "ENGRAM_STORES" "ENGRAM_DATA_DIR" "HTTP_API_HOST" "HTTP_API_PORT" "REQUIRE_AUTHENTICATION" "BACKGROUND_DRAIN_TIMEOUT_SECONDS" "DEFAULT_USER_EMAIL" "ENGRAM_PUBLIC_SIGN_UP" "ENGRAM_PUBLIC_URL" "ENGRAM_TRUSTED_PROXIES" "COGNEE_ENV_FILE" -}}
{{- $groups := dict "settings" $values.settings -}}
{{- range $name, $service := $values.services }}{{ $_ := set $groups (printf "services.%s.settings" $name) (default dict (default dict $service).settings) }}{{ end -}}
{{- range $place, $settings := $groups -}}
{{- range $name, $value := $settings -}}
{{- if has $name $known.secret }}{{ $problems = append $problems (printf "%s.%s is a secret: refer to one in secretSettings" $place $name) }}
{{- else if has $name $own }}{{ $problems = append $problems (printf "%s.%s is set by the chart's own values" $place $name) }}
{{- else if not (has $name $known.plain) }}{{ $problems = append $problems (printf "%s.%s is no setting of this release; other variables go to extraEnv" $place $name) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- range $name, $from := $values.secretSettings -}}
{{- if not (or (has $name $known.secret) (has $name $known.plain)) }}{{ $problems = append $problems (printf "secretSettings.%s is no setting of this release" $name) }}{{ end -}}
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
