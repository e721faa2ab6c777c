import type { Extraction, ExtractionInput } from '../../../ports/extractor.ts';
import { extractByRules } from './extract-by-rules.ts';
import { createTagger } from './tagger.ts';

const tag = createTagger();
// Loads the language model before the first task.
tag('');

/** The rules extractor, in a worker process. */
export function extract(input: ExtractionInput): Extraction {
  return extractByRules(input, tag);
}
