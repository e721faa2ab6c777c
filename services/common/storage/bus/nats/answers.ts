import type { Msg } from 'nats';
import { engramError } from '../../../kernel/errors.ts';
import { leastBusy, type Responder } from '../rules/responder.ts';
import { tooLate } from '../rules/within-deadline.ts';
import type { NatsLink } from './nats-link.ts';
import {
  type AnswerPart,
  answerParts,
  CALL,
  DEADLINE,
  errorAnswer,
  fromNatsHeaders,
  MAX_ANSWER_BYTES,
  ownHeader,
} from './wire-message.ts';

interface AnswerOptions {
  readonly link: NatsLink;
  /** Subject of the cancellation of a request; `*` for all. */
  readonly cancelSubject: (call: string) => string;
  /** Runs a handler and counts it as in flight. */
  readonly track: (work: () => Promise<Uint8Array>) => Promise<Uint8Array>;
}

/** Lets the least busy of the responders answer a request. Rejects when the answer cannot be sent. */
export type AnswerRequest = (message: Msg, name: string, responders: readonly Responder[]) => Promise<void>;

const MAX_CONCURRENT_REQUESTS = 1000;
/** The longest that a timer can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export function createAnswers({ link, cancelSubject, track }: AnswerOptions): AnswerRequest {
  const inHand = new Map<string, AbortController>();
  link.connection.subscribe(cancelSubject('*'), {
    callback(error, message) {
      const call = message?.subject.slice(message.subject.lastIndexOf('.') + 1) ?? '';
      if (error === null) inHand.get(call)?.abort(engramError('CancelledError', 'The caller gave the request up.'));
    },
  });
  const reply = (message: Msg, parts: readonly AnswerPart[]): void => {
    link.requireUp();
    for (const { payload, headers } of parts) message.respond(payload, { headers });
  };
  return async (message, name, responders) => {
    const responder = leastBusy(responders);
    if (responder === undefined) return reply(message, [errorAnswer(busy(`${name} is stopping`))]);
    if (inHand.size >= MAX_CONCURRENT_REQUESTS) {
      return reply(message, [errorAnswer(busy(`${name} has too many requests in hand`))]);
    }
    const call = ownHeader(message.headers, CALL) || message.reply || '';
    const controller = new AbortController();
    inHand.set(call, controller);
    const deadlineMs = Number(ownHeader(message.headers, DEADLINE)) || MAX_TIMER_MS;
    const timer = setTimeout(() => controller.abort(tooLate(name, { deadlineMs })), Math.min(deadlineMs, MAX_TIMER_MS));
    const request = { subject: name, payload: message.data, headers: fromNatsHeaders(message.headers) };
    try {
      const result = await track(() => responder.answer(request, controller.signal));
      // The caller has given up and would discard it.
      if (!controller.signal.aborted) reply(message, partsOf(name, result, link.maxMessageBytes()));
    } catch (error) {
      if (!controller.signal.aborted) reply(message, [errorAnswer(error)]);
    } finally {
      clearTimeout(timer);
      inHand.delete(call);
    }
  };
}

function busy(message: string): Error {
  return engramError('ServiceUnavailableError', message, { retryable: true, retryAfterSeconds: 1 });
}

function partsOf(name: string, payload: Uint8Array, maxMessageBytes: number): readonly AnswerPart[] {
  if (payload.length <= MAX_ANSWER_BYTES) return answerParts(payload, maxMessageBytes);
  const message = `The answer of ${name} has ${payload.length} bytes; the bus carries ${MAX_ANSWER_BYTES}.`;
  return [errorAnswer(engramError('PayloadTooLargeError', message))];
}
