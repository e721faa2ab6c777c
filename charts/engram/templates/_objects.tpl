{{/*
Every object goes through here: dict root kind component text. Adds the common labels and annotations, then what
`objects` says about "<kind>/<component>": `merge` (deep), then `patch` (RFC 6902: add, replace, remove).
*/}}
{{- define "engram.object" -}}
{{- $object := fromYaml .text -}}
{{- if hasKey $object "Error" }}{{ fail (printf "%s/%s: %s" .kind .component $object.Error) }}{{ end -}}
{{- with .root.Values.commonLabels }}{{ $_ := set $object.metadata "labels" (mergeOverwrite (deepCopy .) (default dict $object.metadata.labels)) }}{{ end -}}
{{- with .root.Values.commonAnnotations }}{{ $_ := set $object.metadata "annotations" (mergeOverwrite (deepCopy .) (default dict $object.metadata.annotations)) }}{{ end -}}
{{- $key := printf "%s/%s" .kind .component -}}
{{- if not (include "engram.isObject" (dict "root" .root "key" $key)) }}{{ fail (printf "engram.isObject does not know %s" $key) }}{{ end -}}
{{- with index .root.Values.objects $key -}}
{{- with .merge }}{{ $object = mergeOverwrite $object (deepCopy .) }}{{ end -}}
{{- range .patch -}}
{{- if not (hasPrefix "/" .path) }}{{ fail (printf "objects.%s: the path %q does not begin with /" $key .path) }}{{ end -}}
{{- $path := list }}{{ range splitList "/" (trimPrefix "/" .path) }}{{ $path = append $path (. | replace "~1" "/" | replace "~0" "~") }}{{ end -}}
{{- $patched := fromJson (include "engram.patched" (dict "node" $object "path" $path "op" .op "value" .value "where" $key)) -}}
{{- $object = $patched.node -}}
{{- end -}}
{{- end }}
---
{{ toYaml $object }}
{{ end -}}

{{/* dict root key → whether `<kind>/<component>` is an object that this chart makes, with the present values or with others. */}}
{{- define "engram.isObject" -}}
{{- $services := .root.Files.Get "files/service-paths.json" | fromJson | keys | join "|" -}}
{{- $stores := "mongodb|elasticsearch|neo4j|nats" -}}
{{- $components := dict
  "ClusterRole" "operator"
  "ClusterRoleBinding" "operator"
  "ConfigMap" "api-check|nats|dashboard-[a-z]+"
  "CustomResourceDefinition" "tenants|datasets"
  "Deployment" (printf "operator|%s" $services)
  "HTTPRoute" "routes"
  "HorizontalPodAutoscaler" $services
  "Ingress" "routes"
  "Job" "migration|uninstall-guard"
  "NetworkPolicy" (printf "deny|processes|%s" $stores)
  "Pod" "api-check"
  "PodDisruptionBudget" (printf "operator|%s" $services)
  "PodMonitor" "operator"
  "PrometheusRule" "alerts"
  "Role" "operator|operator-home"
  "RoleBinding" "operator|operator-home"
  "ScaledObject" $services
  "Secret" (printf "keys|%s" $stores)
  "Service" (printf "embedded|%s|%s" $stores $services)
  "ServiceAccount" "operator|services"
  "ServiceMonitor" "services"
  "StatefulSet" (printf "embedded|%s" $stores)
-}}
{{- $parts := splitList "/" .key -}}
{{- if regexMatch (printf "^(%s)$" (dig (first $parts) "-" $components)) (last $parts) }}true{{ end -}}
{{- end -}}

{{/* dict node path op value where → {"node": …} with the change at the path. */}}
{{- define "engram.patched" -}}
{{- $node := .node -}}
{{- $first := first .path -}}
{{- $rest := rest .path -}}
{{- if kindIs "map" $node -}}
{{- if $rest -}}
{{- if not (hasKey $node $first) }}{{ fail (printf "objects.%s: there is nothing at %q" .where $first) }}{{ end -}}
{{- $child := fromJson (include "engram.patched" (dict "node" (index $node $first) "path" $rest "op" .op "value" .value "where" .where)) -}}
{{- $_ := set $node $first $child.node -}}
{{- else if eq .op "remove" -}}
{{- if not (hasKey $node $first) }}{{ fail (printf "objects.%s: there is nothing at %q to remove" .where $first) }}{{ end -}}
{{- $_ := unset $node $first -}}
{{- else -}}
{{- if and (eq .op "replace") (not (hasKey $node $first)) }}{{ fail (printf "objects.%s: there is nothing at %q to replace" .where $first) }}{{ end -}}
{{- $_ := set $node $first .value -}}
{{- end -}}
{{- toJson (dict "node" $node) -}}
{{- else if kindIs "slice" $node -}}
{{- $count := len $node -}}
{{- $at := ternary $count (atoi $first) (eq $first "-") -}}
{{- if or (gt $at $count) (and (ne $first "-") (not (regexMatch "^[0-9]+$" $first))) (and (eq $at $count) (or $rest (ne .op "add"))) }}{{ fail (printf "objects.%s: the list has nothing at %q" .where $first) }}{{ end -}}
{{- $result := list -}}
{{- $dot := . -}}
{{- range $index, $item := $node -}}
{{- if ne $index $at -}}
{{- $result = append $result $item -}}
{{- else if $rest -}}
{{- $child := fromJson (include "engram.patched" (dict "node" $item "path" $rest "op" $dot.op "value" $dot.value "where" $dot.where)) -}}
{{- $result = append $result $child.node -}}
{{- else if eq $dot.op "add" -}}
{{- $result = append (append $result $dot.value) $item -}}
{{- else if eq $dot.op "replace" -}}
{{- $result = append $result $dot.value -}}
{{- end -}}
{{- end -}}
{{- if and (eq $at $count) (not $rest) }}{{ $result = append $result .value }}{{ end -}}
{{- toJson (dict "node" $result) -}}
{{- else -}}
{{- fail (printf "objects.%s: nothing is below %q" .where $first) -}}
{{- end -}}
{{- end -}}
