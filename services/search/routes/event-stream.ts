import { Readable } from 'node:stream';
import { isEngramError } from '../../common/kernel/errors.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { Reply } from '../../common/platform/http/route.ts';
import type { RecallListener } from '../recall/recall.ts';

const KEEP_ALIVE_MS = 15_000;

/**
 * Streams one recall as server-sent events: `stage`, `delta`, `answer_done`, `reset`, `final` or `error`, with a comment line
 * every 15 s. Nothing is sent before the first stage: an earlier error keeps its status and JSON body.
 */
export async function eventStream(
  run: (listener: RecallListener) => Promise<readonly object[]>,
  signal: AbortSignal,
): Promise<Reply> {
  const events: string[] = [];
  let wake = () => {};
  let started = () => {};
  let isDone = false;
  const send = (event: string, data: object) => {
    events.push(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    wake();
  };
  const firstStage = new Promise<void>((resolve) => {
    started = resolve;
  });
  const work = run({
    retrieving() {
      send('stage', { stage: 'retrieving' });
      started();
    },
    generating: () => send('stage', { stage: 'generating' }),
    delta: (text) => send('delta', { text }),
    answerDone: () => send('answer_done', {}),
    reset: () => send('reset', {}),
  });
  const finished = work.then(
    (results) => send('final', { results }),
    (error: unknown) => send('error', presentError(error)),
  );
  const done = finished.then(() => {
    isDone = true;
    wake();
  });
  await Promise.race([firstStage, work]);
  async function* body(): AsyncGenerator<string> {
    while (!signal.aborted) {
      const next = events.shift();
      if (next !== undefined) {
        yield next;
        continue;
      }
      if (isDone) return;
      if (!(await waitForEvent())) yield ': keep-alive\n\n';
    }
    await done;
  }
  function waitForEvent(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), KEEP_ALIVE_MS);
      wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
      if (events.length > 0 || isDone) wake();
    });
  }
  return {
    status: 200,
    stream: Readable.from(body()),
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
  };
}

function presentError(error: unknown): { readonly message: string; readonly status: number } {
  if (isEngramError(error)) return { message: error.detail, status: error.status };
  if (error instanceof HttpError) {
    const { error: message } = error.body as { readonly error?: string };
    return { message: message ?? 'An error occurred during recall.', status: error.status };
  }
  return { message: 'An error occurred during recall.', status: 409 };
}
