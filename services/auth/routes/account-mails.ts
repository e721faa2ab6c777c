import { nothing } from '../../common/platform/http/answer-schemas.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { NO_PERMISSION } from '../../common/platform/http/route-permission.ts';
import { presentUser } from '../presenters/account.ts';
import { type MailDependencies, requestAccountMail, resetPassword, verifyAddress } from '../sign-in/account-mails.ts';
import { addressBody, resetPasswordBody, userRecord, verifyBody } from './account.schema.ts';

const { routes, post } = routesOf<MailDependencies>({ tag: 'auth', auth: 'none', permission: NO_PERMISSION });

/** Requests for mails with tokens, and for using these tokens. Credentials of the request are ignored. */
export const accountMailRoutes = routes(
  post('/api/v1/auth/forgot-password', 'requestPasswordReset', {
    summary: 'Request a mail with a token that sets a new password',
    body: { kind: 'json', schema: addressBody },
    responses: { 202: { description: 'Accepted, whether there is such an account or not', schema: nothing } },
    async handle({ body }, deps) {
      requestAccountMail(deps, 'reset', body.email);
      return json(null, 202);
    },
  }),
  post('/api/v1/auth/reset-password', 'resetPassword', {
    summary: 'Set a new password with a token from a mail; ends all login tokens',
    body: { kind: 'json', schema: resetPasswordBody },
    responses: {
      200: { description: 'The password is set', schema: nothing },
      400: { description: 'RESET_PASSWORD_BAD_TOKEN or RESET_PASSWORD_INVALID_PASSWORD' },
      429: { description: 'Too many at the moment' },
    },
    async handle({ body }, deps) {
      await resetPassword(deps, body);
      return json(null);
    },
  }),
  post('/api/v1/auth/request-verify-token', 'requestVerification', {
    summary: 'Request a mail with a token that confirms the address',
    body: { kind: 'json', schema: addressBody },
    responses: { 202: { description: 'Accepted, whether there is such an account or not', schema: nothing } },
    async handle({ body }, deps) {
      requestAccountMail(deps, 'verify', body.email);
      return json(null, 202);
    },
  }),
  post('/api/v1/auth/verify', 'verifyEmail', {
    summary: 'Confirm an address with a token from a mail',
    body: { kind: 'json', schema: verifyBody },
    responses: {
      200: { description: 'The account', schema: userRecord },
      400: { description: 'VERIFY_USER_BAD_TOKEN or VERIFY_USER_ALREADY_VERIFIED' },
    },
    handle: async ({ body }, deps) => json(presentUser(await verifyAddress(deps, body.token))),
  }),
);
