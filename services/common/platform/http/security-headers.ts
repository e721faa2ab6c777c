import type { Next, RequestContext } from './request-state.ts';

/**
 * An own few lines: helmet costs more throughput than the rest of the chain together. A page that needs scripts sets its
 * own policy, which replaces this one.
 */
export async function securityHeaders(context: RequestContext, next: Next): Promise<void> {
  const { res } = context;
  res.setHeader('x-content-type-options', 'nosniff');
  res.setHeader('referrer-policy', 'no-referrer');
  res.setHeader('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
  res.setHeader('cache-control', 'no-store');
  await next();
}
