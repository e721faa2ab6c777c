{{/* Names: fullname, or fullname and component. Cut at `max` (63), then with a hash, so that two long names stay two. */}}
{{- define "engram.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name -}}
{{- end -}}
{{- end -}}

{{/* dict root component [max] */}}
{{- define "engram.name" -}}
{{- $full := include "engram.fullname" .root -}}
{{- $max := default 63 .max | int -}}
{{- $suffix := ternary "" (printf "-%s" .component) (empty .component) -}}
{{- $name := printf "%s%s" $full $suffix -}}
{{- if gt (len $name) $max -}}
{{- $room := sub (sub $max (len $suffix)) 9 | int -}}
{{- $name = printf "%s-%s%s" ($full | trunc $room | trimSuffix "-") (sha256sum $full | trunc 8) $suffix -}}
{{- end -}}
{{- $name -}}
{{- end -}}

{{/* What selects the pods of a component: never changed, Deployments would refuse it. */}}
{{- define "engram.selector" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- if .component }}
app.kubernetes.io/component: {{ .component }}
{{- end }}
{{- end -}}

{{- define "engram.labels" -}}
{{ include "engram.selector" . }}
app.kubernetes.io/part-of: engram
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{/* dict root component [max]: the metadata that every object begins with. */}}
{{- define "engram.metadata" -}}
name: {{ include "engram.name" . }}
namespace: {{ .root.Release.Namespace }}
labels: {{- include "engram.labels" . | nindent 2 }}
{{- end -}}

{{/* dict image [tag]: name of an image. */}}
{{- define "engram.image" -}}
{{- $name := .image.repository -}}
{{- if .image.registry }}{{ $name = printf "%s/%s" .image.registry $name }}{{ end -}}
{{- if .image.digest -}}
{{- printf "%s@%s" $name .image.digest -}}
{{- else -}}
{{- printf "%s:%s" $name (default .tag .image.tag | toString) -}}
{{- end -}}
{{- end -}}

{{- define "engram.ownImage" -}}
{{- include "engram.image" (dict "image" .Values.image "tag" .Chart.AppVersion) -}}
{{- end -}}

{{- define "engram.serviceAccount" -}}
{{- if .Values.serviceAccount.name }}{{ .Values.serviceAccount.name }}{{ else if .Values.serviceAccount.create }}{{ include "engram.name" (dict "root" .) }}{{ else }}default{{ end -}}
{{- end -}}

{{- define "engram.operatorServiceAccount" -}}
{{- if .Values.serviceAccount.operatorName }}{{ .Values.serviceAccount.operatorName }}{{ else if .Values.serviceAccount.create }}{{ include "engram.name" (dict "root" . "component" "operator") }}{{ else }}default{{ end -}}
{{- end -}}

{{/* Names of the services that run, as a JSON list: those of services/common/domain/service-paths.ts. */}}
{{- define "engram.services" -}}
{{- $names := list -}}
{{- if eq .Values.shape "cluster" }}{{ $names = .Files.Get "files/service-paths.json" | fromJson | keys | sortAlpha }}{{ end -}}
{{- toJson $names -}}
{{- end -}}

{{- define "engram.operatorRuns" -}}
{{- if and .Values.operator.enabled (eq .Values.shape "cluster") }}true{{ end -}}
{{- end -}}

{{- define "engram.secretName" -}}
{{- default (include "engram.name" (dict "root" . "component" "keys")) .Values.secrets.existingSecret -}}
{{- end -}}

{{/* Seconds from the word to end until a pod is killed: everything that ending takes, and a margin. */}}
{{- define "engram.graceSeconds" -}}
{{- add .Values.shutdown.preStopSeconds .Values.shutdown.drainSeconds 10 -}}
{{- end -}}
