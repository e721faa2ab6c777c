import type { Bus } from '../../../storage/ports/bus.ts';
import type { SpanTracer } from './tracer.ts';

const HEADER = 'trace';

/** A bus whose requests are steps of what is under way, here and at the process that answers. */
export function tracedBus<Carrier extends Bus>(bus: Carrier, tracer: SpanTracer): Carrier {
  return {
    ...bus,
    request: (subject, payload, options) =>
      tracer.step(`ask ${shortOf(subject)}`, {}, () => {
        const trace = tracer.carried();
        if (trace === undefined) return bus.request(subject, payload, options);
        return bus.request(subject, payload, { ...options, headers: { ...options.headers, [HEADER]: trace } });
      }),
    respond: (subject, handler) =>
      bus.respond(subject, (message, signal) => {
        const trace = message.headers[HEADER];
        if (trace === undefined) return handler(message, signal);
        return tracer.answer(trace, `answer ${shortOf(subject)}`, () => handler(message, signal));
      }),
  };
}

/** `engram.auth.Authenticate` → `auth.Authenticate` */
function shortOf(subject: string): string {
  return subject.slice(subject.indexOf('.') + 1);
}
