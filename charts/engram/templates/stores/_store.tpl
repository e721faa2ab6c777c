{{/*
A single server with a volume, for trying out.
dict root component settings (the store's values) port user (id) data (path) container (YAML: args, command, env, probes …) [init] [volumes] [claims]
*/}}
{{- define "engram.store" -}}
{{- $names := dict "root" .root "component" .component "max" 52 -}}
{{- $selector := include "engram.selector" $names | fromYaml | toJson -}}
apiVersion: apps/v1
kind: StatefulSet
metadata: {{- include "engram.metadata" $names | nindent 2 }}
spec:
  replicas: 1
  serviceName: {{ include "engram.name" $names }}
  selector: { matchLabels: {{ $selector }} }
  template:
    metadata:
      labels: {{- include "engram.selector" $names | nindent 8 }}
        app.kubernetes.io/part-of: engram
      {{- with .annotations }}
      annotations: {{- . | nindent 8 }}
      {{- end }}
    spec:
      automountServiceAccountToken: false
      # Variables of Services would be read as settings by some of these servers.
      enableServiceLinks: false
      {{- with .root.Values.image.pullSecrets }}
      imagePullSecrets: {{ range . }}
        - name: {{ . }}{{ end }}
      {{- end }}
      securityContext:
        runAsNonRoot: true
        runAsUser: {{ .user }}
        runAsGroup: {{ .user }}
        fsGroup: {{ .user }}
        fsGroupChangePolicy: OnRootMismatch
        seccompProfile: { type: RuntimeDefault }
      terminationGracePeriodSeconds: 60
      {{- with .settings.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .settings.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .settings.affinity }}
      affinity: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .init }}
      initContainers: {{- . | nindent 8 }}
      {{- end }}
      containers:
        - name: {{ .component }}
          image: {{ include "engram.image" (dict "image" .settings.image "tag" "") }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          ports: [{ name: {{ .component | trunc 15 }}, containerPort: {{ .port }}, protocol: TCP }]
          resources: {{- toYaml .settings.resources | nindent 12 }}
          {{- .container | nindent 10 }}
      volumes:
        - { name: tmp, emptyDir: {} }
        {{- with .volumes }}{{ . | nindent 8 }}{{ end }}
  volumeClaimTemplates:
    - metadata: { name: data }
      spec:
        accessModes: [ReadWriteOnce]
        {{- with .settings.persistence.storageClass }}
        storageClassName: {{ . }}
        {{- end }}
        resources: { requests: { storage: {{ .settings.persistence.size }} } }
{{- end -}}

{{/* dict root component port: a headless Service, which gives the pod a name, also before it is ready. */}}
{{- define "engram.storeService" -}}
{{- $names := dict "root" .root "component" .component "max" 52 -}}
apiVersion: v1
kind: Service
metadata: {{- include "engram.metadata" $names | nindent 2 }}
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector: {{ include "engram.selector" $names | fromYaml | toJson }}
  ports: [{ name: {{ .component | trunc 15 }}, port: {{ .port }}, targetPort: {{ .component | trunc 15 }}, protocol: TCP }]
{{- end -}}

{{/* dict root component keys (list): a Secret of passwords, made once. They begin with a letter: NATS reads variables as values of its own syntax. */}}
{{- define "engram.storeSecret" -}}
{{- $names := dict "root" .root "component" .component "max" 52 -}}
{{- $present := default dict (lookup "v1" "Secret" .root.Release.Namespace (include "engram.name" $names)).data -}}
apiVersion: v1
kind: Secret
metadata: {{- include "engram.metadata" $names | nindent 2 }}
  # The volume with what it protects outlives the release, so does it.
  annotations: { helm.sh/resource-policy: keep }
type: Opaque
data:
  {{- range .keys }}
  {{ . }}: {{ default (printf "p%s" (randAlphaNum 31) | b64enc) (index $present .) }}
  {{- end }}
{{- end -}}

{{- define "engram.storeSecurity" -}}
allowPrivilegeEscalation: false
capabilities: { drop: [ALL] }
{{- end -}}
