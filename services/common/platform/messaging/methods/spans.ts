import type { Span } from '../../../domain/span.ts';
import { defineTopic } from '../method.ts';

/** Where time went in a process, told to those that show it. */
export const endedSpans = defineTopic<{ readonly spans: readonly Span[] }>('spans', () =>
  import('../codecs/spans.ts').then(({ endedSpansCodec }) => endedSpansCodec),
);

/** The only key of the topic. */
export const SPANS_ENDED = 'ended';
