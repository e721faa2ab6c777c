import type { Extractor } from '../../services/common/ports/extractor.ts';
import { extractByRules } from '../../services/common/text/extraction/rules/extract-by-rules.ts';
import { RULES_VERSION } from '../../services/common/text/extraction/rules/extraction-pool.ts';
import { createTagger } from '../../services/common/text/extraction/rules/tagger.ts';

/** Entities, relations and summaries without a model, in the calling thread: about 0.6 ms per chunk of 400 tokens. */
export function createRulesExtractor(): Extractor {
  const tag = createTagger();
  return {
    version: RULES_VERSION,
    async extract(input, context) {
      context.signal?.throwIfAborted();
      return extractByRules(input, tag);
    },
  };
}
