import { z } from 'zod';
import { checkEmailAddress } from '../../common/domain/email-address.ts';
import { lenientBoolean, optional } from '../../common/platform/http/schema.ts';
import { MAX_PASSWORD_LENGTH } from '../accounts/account.ts';

/** Longer than any address; limits the keys of the login throttle. */
const MAX_USERNAME_LENGTH = 320;

/** A normalised address. The issue has the `type` and `ctx` of the wire format (proto/http/auth-integrations.md §1.4). */
const emailAddress = z.string().transform((text, context) => {
  const { address, reason } = checkEmailAddress(text);
  if (address !== undefined) return address;
  context.addIssue({
    code: 'custom',
    message: `value is not a valid email address: ${reason}`,
    params: { type: 'value_error', ctx: { reason } },
  });
  return z.NEVER;
});

export const registerBody = z.object({ email: emailAddress, password: z.string() }).meta({ id: 'UserCreate' });

export const updateAccountBody = z.object({ email: optional(emailAddress), password: optional(z.string()) });

export const changeUserBody = updateAccountBody
  .extend({
    is_active: optional(lenientBoolean()),
    is_superuser: optional(lenientBoolean()),
    is_verified: optional(lenientBoolean()),
  })
  .meta({ id: 'UserUpdate' });

export const addressBody = z.object({ email: emailAddress }).meta({ id: 'UserEmailRequest' });

export const resetPasswordBody = z
  .object({ token: z.string(), password: z.string() })
  .meta({ id: 'Body_reset_reset_password_api_v1_auth_reset_password_post' });

export const verifyBody = z.object({ token: z.string() }).meta({ id: 'Body_verify_verify_api_v1_auth_verify_post' });

/** Any text: an invalid id is answered like an unknown one. */
export const userParams = z.object({ userId: z.string() });

export const userIdAnswer = z.object({ user_id: z.string() });

export const loginBody = z
  .object({
    grant_type: z.enum(['', 'password']).optional(),
    username: z.string().min(1).max(MAX_USERNAME_LENGTH),
    password: z.string().min(1).max(MAX_PASSWORD_LENGTH),
    scope: z.string().optional(),
    client_id: z.string().optional(),
    client_secret: z.string().optional(),
  })
  .meta({ id: 'Body_login_api_v1_auth_login_post' });

export const loginAnswer = z
  .object({ access_token: z.string(), token_type: z.literal('bearer') })
  .meta({ id: 'BearerResponse' });

export const userRecord = z
  .object({
    id: z.string(),
    email: z.string(),
    is_active: z.boolean(),
    is_superuser: z.boolean(),
    is_verified: z.boolean(),
    tenant_id: z.string().nullable(),
    parent_user_id: z.string().nullable(),
  })
  .meta({ id: 'UserRead' });

export const invitationAnswer = z.object({
  user: userRecord,
  mailed: z.boolean(),
  link: z.string().nullable().describe('Page that sets the password, once; null: it was mailed'),
  expires_at: z.string(),
});

export const userPage = z.object({
  users: z.array(userRecord),
  next: z.string().nullable().describe('Value of `after` for the next page'),
});

export const ownEmail = z.object({ email: z.string() });
