import { z } from 'zod';

/** A list as cognee-mcp takes it: names separated by commas; or a JSON list. */
export function nameList(description: string) {
  return z
    .union([z.string(), z.array(z.string())])
    .nullish()
    .transform((given) =>
      (typeof given === 'string' ? given.split(',') : (given ?? []))
        .map((each) => each.trim())
        .filter((each) => each !== ''),
    )
    .describe(description);
}

export const datasetsArgument = nameList(
  'Datasets to look in, by name or id, separated by commas. Leave it out to look in all you may read.',
);

export const topK = (preset: number) =>
  z.int().min(1).max(100).default(preset).describe('How many passages to look at, 1 to 100.');

export const optionalText = (description: string) => z.string().nullish().describe(description);

/** An argument that clients send empty when they mean nothing. */
export function givenText(text: string | null | undefined): string | null {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? null : trimmed;
}

export const datasetOutput = z.object({ id: z.string(), name: z.string() });
