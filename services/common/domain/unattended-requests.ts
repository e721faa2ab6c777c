/**
 * Requests that pages, dashboards and probes repeat by themselves, again and again, as long as they are open: who one is, and what is
 * going on. Nobody need be there, so it is no use of the tenant: it keeps none awake and wakes none.
 */
const ASKED_AGAIN_AND_AGAIN: readonly RegExp[] = [
  /^\/api\/v1\/(users|auth)\/me$/,
  /^\/api\/v1\/checks\/connection$/,
  /^\/api\/v1\/activity\/(?!export\/)/,
  /^\/api\/v1\/datasets\/status(\/progress)?$/,
  /^\/api\/v1\/datasets\/[^/]+\/processing-status$/,
  /^\/api\/v1\/sync\/status$/,
];

/** `path`: of a route, or of a request without its query. */
export function isUnattended(method: string, path: string): boolean {
  return (method === 'GET' || method === 'HEAD') && ASKED_AGAIN_AND_AGAIN.some((pattern) => pattern.test(path));
}
