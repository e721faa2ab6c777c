import { z } from 'zod';

/** Longer than any state, code or address that a provider sends. */
const MAX_LENGTH = 8192;

const text = z.string().max(MAX_LENGTH);

export const providerParams = z.object({ provider: text });

export const startQuery = z.object({ return_to: text.optional() });

/** RFC 6749 §4.1.2 and RFC 9207; a parameter that comes twice is a fault, as these must not. */
export const callbackQuery = z.object({
  state: text.optional(),
  code: text.optional(),
  iss: text.optional(),
  error: text.optional(),
  error_description: text.optional(),
});

export const providerList = z.object({
  providers: z.array(z.object({ name: z.string(), title: z.string(), login_url: z.string() })),
});

export const logoutAnswer = z.object({ logout_url: z.string().nullable() });
