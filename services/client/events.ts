import { EventSourceParserStream } from 'eventsource-parser/stream';
import { apiError, NoAnswer } from './errors.ts';
import type { RecallItem } from './generated/api.ts';

/** Events of a recall while it goes on. */
export type RecallEvent =
  | { readonly type: 'stage'; readonly stage: 'retrieving' | 'generating' }
  /** The next part of the answer. */
  | { readonly type: 'delta'; readonly text: string }
  | { readonly type: 'answer_done' }
  /** The parts so far do not count: the answer begins anew. */
  | { readonly type: 'reset' }
  /** The last event. */
  | { readonly type: 'final'; readonly results: readonly RecallItem[] };

/** Reads the events of a recall. Errors: `ApiError` for the event `error`; `NoAnswer` when the stream ends early. */
export async function* recallEvents(method: string, response: Response): AsyncGenerator<RecallEvent, void, undefined> {
  const { url, headers } = response;
  const body = response.body ?? new Blob([]).stream();
  const events = body
    .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
    .pipeThrough(new EventSourceParserStream());
  const reader = events.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const data = JSON.parse(value.data) as { readonly message?: string; readonly status?: number };
      if (value.event === 'error') {
        const { message = 'the recall failed', status = 500 } = data;
        throw apiError({ method, url, status, statusText: '', headers, body: { detail: message } });
      }
      yield { type: value.event, ...data } as RecallEvent;
      if (value.event === 'final') return;
    }
  } finally {
    // A caller that stops early also stops the server.
    await reader.cancel().catch(() => undefined);
  }
  throw new NoAnswer(method, url, 'the stream ended without a result', {});
}
