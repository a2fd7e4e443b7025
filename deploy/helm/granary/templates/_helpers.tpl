{{- define "granary.name" -}}
{{- $name := ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) (contains .Chart.Name .Release.Name) }}
{{- $name | trunc 52 | trimSuffix "-" }}
{{- end }}

{{- define "granary.selector" -}}
app.kubernetes.io/name: granary
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "granary.labels" -}}
{{ include "granary.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}
