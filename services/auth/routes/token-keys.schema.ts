import { z } from 'zod';

const publicKey = z.object({
  kty: z.string(),
  kid: z.string(),
  alg: z.string(),
  use: z.literal('sig'),
  crv: z.string().optional(),
  x: z.string().optional(),
  y: z.string().optional(),
  n: z.string().optional(),
  e: z.string().optional(),
});

/** RFC 7517. */
export const keySet = z.object({ keys: z.array(publicKey) });
