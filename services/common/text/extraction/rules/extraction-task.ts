import type { Extraction, ExtractionInput } from '../../../ports/extractor.ts';
import { extractByRules } from './extract-by-rules.ts';
import { createTagger } from './tagger.ts';

const tag = createTagger();
// The module is loaded for work: what that needs is loaded before it comes.
tag('');

/** The rules extractor, in a worker process. */
export function extract(input: ExtractionInput): Extraction {
  return extractByRules(input, tag);
}
