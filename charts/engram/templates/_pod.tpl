{{/* Files that processes read: certificate authorities and credentials of external servers. dict root user. */}}
{{- define "engram.fileVolumes" -}}
{{- $values := .root.Values -}}
{{- $authorities := dict -}}
{{- if eq $values.shape "cluster" -}}
{{- if not $values.elasticsearch.enabled }}{{ $_ := set $authorities "elasticsearch" $values.externalElasticsearch.ca }}{{ end -}}
{{- if not $values.nats.enabled }}{{ $_ := set $authorities "nats" $values.externalNats.ca }}{{ end -}}
{{- if $values.externalKafka.brokers }}{{ $_ := set $authorities "kafka" $values.externalKafka.ca }}{{ end -}}
{{- end -}}
{{- $volumes := list -}}{{- $mounts := list -}}
{{- range $name, $ca := $authorities -}}
{{- if $ca -}}
{{- $items := list (dict "key" (default "ca.crt" $ca.key) "path" "ca.crt") -}}
{{- $source := ternary (dict "secret" (dict "secretName" $ca.secret "items" $items)) (dict "configMap" (dict "name" $ca.configMap "items" $items)) (not (empty $ca.secret)) -}}
{{- $volumes = append $volumes (mergeOverwrite (dict "name" (printf "authority-%s" $name)) $source) -}}
{{- $mounts = append $mounts (dict "name" (printf "authority-%s" $name) "mountPath" (printf "/authorities/%s" $name) "readOnly" true) -}}
{{- end -}}
{{- end -}}
{{- if and (eq $values.shape "cluster") (not $values.nats.enabled) (eq $values.externalNats.authentication "credentials") -}}
{{- $items := list (dict "key" (printf "%s.creds" .user) "path" "user.creds") -}}
{{- $volumes = append $volumes (dict "name" "credentials-nats" "secret" (dict "secretName" $values.externalNats.existingSecret "items" $items)) -}}
{{- $mounts = append $mounts (dict "name" "credentials-nats" "mountPath" "/credentials/nats" "readOnly" true) -}}
{{- end -}}
{{- toJson (dict "volumes" $volumes "mounts" $mounts) -}}
{{- end -}}

{{/*
The pod of a process of Engram. The operator makes the pods of Dedicated tenants from it, too (`engram.dedicatedPods`).
dict root component settings (defaults with the component's own) user args env probes (bool) serviceAccount [token] [volumes] [restartPolicy] [bare]: without the files of external servers.
*/}}
{{- define "engram.pod" -}}
{{- $root := .root -}}
{{- $settings := .settings -}}
{{- $files := dict }}{{ if not .bare }}{{ $files = fromJson (include "engram.fileVolumes" .) }}{{ end -}}
metadata:
  # Without versions: a change of the chart alone restarts nothing.
  labels: {{- include "engram.selector" . | nindent 4 }}
    app.kubernetes.io/part-of: engram
    {{- with $settings.podLabels }}{{ toYaml . | nindent 4 }}{{ end }}
  annotations:
    checksum/keys: {{ printf "%s%s" (include "engram.secretName" $root) $root.Values.secrets.revision | sha256sum | trunc 16 | quote }}
    {{- with $settings.podAnnotations }}{{ toYaml . | nindent 4 }}{{ end }}
spec:
  serviceAccountName: {{ .serviceAccount }}
  automountServiceAccountToken: {{ default false .token }}
  enableServiceLinks: false
  {{- with .restartPolicy }}
  restartPolicy: {{ . }}
  {{- end }}
  {{- with $root.Values.image.pullSecrets }}
  imagePullSecrets: {{ range . }}
    - name: {{ . }}{{ end }}
  {{- end }}
  securityContext: {{- toYaml $settings.podSecurityContext | nindent 4 }}
  terminationGracePeriodSeconds: {{ include "engram.graceSeconds" $root }}
  {{- with $settings.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with $settings.runtimeClassName }}
  runtimeClassName: {{ . }}
  {{- end }}
  {{- with $settings.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $settings.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $settings.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if and .probes $settings.topologySpread.enabled }}
  topologySpreadConstraints:
    {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
    - topologyKey: {{ . }}
      maxSkew: 1
      matchLabelKeys: [pod-template-hash]
      whenUnsatisfiable: {{ $settings.topologySpread.whenUnsatisfiable }}
      labelSelector: { matchLabels: {{ include "engram.selector" $ | fromYaml | toJson }} }
    {{- end }}
  {{- end }}
  {{- with $settings.extraInitContainers }}
  initContainers: {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ .component }}
      image: {{ include "engram.ownImage" $root }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args: {{ toJson .args }}
      env: {{- .env | nindent 8 }}
        {{- with $settings.extraEnv }}{{ toYaml . | nindent 8 }}{{ end }}
      {{- with $settings.extraEnvFrom }}
      envFrom: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- if .probes }}
      ports: [{ name: http, containerPort: {{ default 8000 .port }}, protocol: TCP }]
      # A process that waits for its stores is alive: only one that does not answer is restarted. It becomes ready within two
      # seconds and unready only after half a minute of failures: a slow store is slow for every pod, and removing all of them
      # from their Services would turn that into an outage.
      startupProbe: { httpGet: { path: /livez, port: http }, periodSeconds: 1, timeoutSeconds: 2, failureThreshold: 120 }
      livenessProbe: { httpGet: { path: /livez, port: http }, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 }
      readinessProbe: { httpGet: { path: /readyz, port: http }, periodSeconds: 2, timeoutSeconds: 5, failureThreshold: 15 }
      # The pod is taken from its Service when it is to end; routers hear of that within these seconds, and it answers until then.
      lifecycle: { preStop: { sleep: { seconds: {{ $root.Values.shutdown.preStopSeconds }} } } }
      {{- end }}
      resources: {{- toYaml $settings.resources | nindent 8 }}
      securityContext: {{- toYaml $settings.securityContext | nindent 8 }}
      volumeMounts:
        - { name: data, mountPath: /data }
        - { name: tmp, mountPath: /tmp }
        {{- range $files.mounts }}
        - {{ toJson . }}
        {{- end }}
        {{- with $settings.extraVolumeMounts }}{{ toYaml . | nindent 8 }}{{ end }}
    {{- with $settings.extraContainers }}{{ toYaml . | nindent 4 }}{{ end }}
  volumes:
    {{- with .volumes }}{{ . | nindent 4 }}{{ else }}
    - { name: data, emptyDir: { sizeLimit: {{ $settings.scratchSize }} } }
    {{- end }}
    - { name: tmp, emptyDir: { sizeLimit: {{ $settings.scratchSize }} } }
    {{- range $files.volumes }}
    - {{ toJson . }}
    {{- end }}
    {{- with $settings.extraVolumes }}{{ toYaml . | nindent 4 }}{{ end }}
{{- end -}}
