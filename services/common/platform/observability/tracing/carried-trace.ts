/** The place in a trace where another process, a client or a job goes on. */
export interface CarriedTrace {
  readonly traceId: string;
  readonly spanId: string;
  /** The request or run that the work is for; absent in what clients send. */
  readonly rootId?: string;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const ROOT = /^([0-9a-f]{16});/;
const ZEROS = /^0+$/;

/** `<root>;<traceparent>`, the second as in the W3C recommendation. */
export function writeCarried({ traceId, spanId, rootId }: Required<CarriedTrace>): string {
  return `${rootId};00-${traceId}-${spanId}-01`;
}

/** Returns null for texts that are neither from `writeCarried` nor a `traceparent`, which later versions may make longer. */
export function readCarried(text: string | undefined): CarriedTrace | null {
  if (text === undefined || text.length > 256) return null;
  const rootId = ROOT.exec(text)?.[1];
  const [, version, traceId, spanId, more] = TRACEPARENT.exec(rootId === undefined ? text : text.slice(17)) ?? [];
  if (traceId === undefined || spanId === undefined || version === 'ff' || (version === '00' && more !== undefined)) {
    return null;
  }
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return null;
  return rootId === undefined ? { traceId, spanId } : { traceId, spanId, rootId };
}
