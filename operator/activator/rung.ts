/**
 * With this the process ends that stands in for a hibernated tenant when a request is to wake it. It has no right to tell the
 * API server anything; the kubelet keeps the code in the status of the pod, where the operator finds it, also later.
 */
export const RUNG_EXIT_CODE = 86;
