import type { Logger } from '../observability/logger.ts';
import { errorReply } from './error-reply.ts';
import { ClientGoneError } from './request-faults.ts';
import type { Next, RequestContext } from './request-state.ts';
import { writeReply } from './write-reply.ts';

/** After a refused upload the rest of the body is read for this long, so that the client gets to see the answer. */
const LINGER_MS = 5_000;

/** Every error of the chain becomes an answer; one that comes when the answer has begun closes the connection. */
export function translateErrors(logger: Logger) {
  return async (context: RequestContext, next: Next): Promise<void> => {
    const { req, res, state } = context;
    try {
      await next();
    } catch (error) {
      if (isClientGone(error) || (req.socket.destroyed && !res.headersSent)) {
        res.destroy();
        return;
      }
      if (res.headersSent) {
        logger.error('http.reply-broken', { requestId: state.requestId, route: state.route, error });
        res.destroy();
        return;
      }
      const { reply, isUnknown } = errorReply(error);
      if (isUnknown) state.error = error;
      if (closesWithAnswer(context) && reply.headers?.['connection'] !== 'close') await readRest(context);
      await writeReply(
        res,
        state.presentError?.(reply, context.headers as Readonly<Record<string, string | undefined>>) ?? reply,
      );
    }
    if (!req.complete) discardRest(context);
  };
}

function isClientGone(error: unknown): boolean {
  return (
    error instanceof ClientGoneError || (error as { code?: unknown } | null)?.code === 'ERR_STREAM_PREMATURE_CLOSE'
  );
}

function discardRest({ req }: RequestContext): void {
  req.on('error', () => undefined);
  req.resume();
  const timer = setTimeout(() => req.socket.destroy(), LINGER_MS);
  timer.unref();
  req.once('close', () => clearTimeout(timer));
  req.once('end', () => clearTimeout(timer));
}

/** The connection ends with the answer, and a client that is still sending its body would see no more than that. */
function closesWithAnswer({ req, res }: RequestContext): boolean {
  return !req.complete && !res.shouldKeepAlive && req.headers.expect === undefined;
}

function readRest({ req }: RequestContext): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, LINGER_MS);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    req.on('error', end).once('close', end).once('end', end);
    req.resume();
  });
}
