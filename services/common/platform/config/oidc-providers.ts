import { z } from 'zod';
import type { TenantId } from '../../kernel/brand.ts';
import { asId } from '../../kernel/ids.ts';
import { ownValue, parseJson } from '../../kernel/json.ts';

/** An OpenID Connect provider as configured. */
export interface OidcProvider {
  /** Part of its paths. */
  readonly name: string;
  /** Name that people see. */
  readonly title: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Null: a public client. */
  readonly clientSecret: string | null;
  readonly clientAuthentication: 'basic' | 'post';
  readonly scopes: readonly string[];
  /** Access tokens for one of these are accepted; none when empty. */
  readonly audiences: readonly string[];
  /** Whether a first sign-in makes an account. */
  readonly provision: boolean;
  /** Domains of the addresses that may sign in, in lower case; empty: all. */
  readonly emailDomains: readonly string[];
  /** Joined at first sign-in. */
  readonly tenant: TenantId | null;
  /** Value of the claim → name of a role in `tenant`. */
  readonly roles: RoleMapping | null;
  /** The issuer may be on http or on a private address. */
  readonly allowPrivateNetwork: boolean;
}

export interface RoleMapping {
  /** Name of the claim, or a path into it: `realm_access.roles`. */
  readonly claim: string;
  readonly values: Readonly<Record<string, string>>;
}

interface OidcSettings {
  readonly publicUrl?: string | undefined;
  readonly oidcProviders: string;
  readonly oidcClientSecrets?: string | undefined;
}

const PROVIDERS = 'ENGRAM_OIDC_PROVIDERS';
const SECRETS = 'ENGRAM_OIDC_CLIENT_SECRETS';
const NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;
const DOMAIN = /^[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)+$/u;

const word = z.string().trim().min(1, 'must not be empty');

const providerSchema = z
  .strictObject({
    name: z.string().regex(NAME, 'must be lower-case letters, digits and hyphens, at most 32'),
    title: word.max(80, 'must have at most 80 characters').optional(),
    issuer: z.string().refine(isIssuer, 'must be an https address without query and fragment'),
    clientId: word,
    clientAuthentication: z.enum(['basic', 'post'], 'must be basic or post').default('basic'),
    scopes: z
      .array(z.string().regex(SCOPE, 'must be a scope'))
      .refine((scopes) => scopes.includes('openid'), 'must contain openid')
      .default(['openid', 'profile', 'email']),
    audiences: z.array(word).default([]),
    provision: z.boolean().default(false),
    emailDomains: z
      .array(
        z
          .string()
          .regex(DOMAIN, 'must be a domain name')
          .transform((domain) => domain.toLowerCase()),
      )
      .default([]),
    tenant: z.guid('must be the id of a tenant').optional(),
    roles: z.strictObject({ claim: word, values: z.record(word, word) }).optional(),
    allowPrivateNetwork: z.boolean().default(false),
  })
  .refine(({ roles, tenant }) => roles === undefined || tenant !== undefined, {
    path: ['roles'],
    message: 'needs a tenant, in which the roles are',
  })
  .refine(({ issuer, allowPrivateNetwork }) => allowPrivateNetwork || !issuer.startsWith('http:'), {
    path: ['issuer'],
    message: 'must be https, unless "allowPrivateNetwork" is true',
  });

const secretsSchema = z.record(z.string(), z.string().min(1, 'must not be empty'));

/** Reads the providers. Problems are added to `problems` without values, as one may be a misplaced secret. */
export function readOidcProviders(settings: OidcSettings, problems: string[]): readonly OidcProvider[] {
  if (settings.oidcProviders.trim() === '') {
    if (settings.oidcClientSecrets !== undefined) problems.push(`${SECRETS}: is set, but ${PROVIDERS} is not.`);
    return [];
  }
  const entries = checkedJson(PROVIDERS, settings.oidcProviders, z.array(z.unknown(), 'must be a JSON list'), problems);
  const secrets = checkedJson(SECRETS, settings.oidcClientSecrets ?? '{}', secretsSchema, problems) ?? {};
  const providers = (entries ?? []).flatMap((entry, index) => readProvider(entry, { index, secrets, problems }));
  const names = providers.map(({ name }) => name);
  for (const name of new Set(names.filter((each, index) => names.indexOf(each) !== index))) {
    problems.push(`${PROVIDERS}: the name "${name}" is used twice.`);
  }
  if (entries !== null && providers.length === entries.length) {
    for (const name of Object.keys(secrets)) {
      if (!names.includes(name)) problems.push(`${SECRETS}: no provider has the name "${name}".`);
    }
  }
  if (settings.publicUrl === undefined) {
    problems.push(`ENGRAM_PUBLIC_URL: must be set, because the providers of ${PROVIDERS} send browsers back there.`);
  }
  return providers;
}

interface Surroundings {
  readonly index: number;
  readonly secrets: Readonly<Record<string, string>>;
  readonly problems: string[];
}

function readProvider(entry: unknown, { index, secrets, problems }: Surroundings): readonly OidcProvider[] {
  const result = providerSchema.safeParse(entry);
  if (!result.success) {
    for (const issue of result.error.issues) problems.push(`${PROVIDERS}: ${placeOf(entry, index, issue)}.`);
    return [];
  }
  const { title, tenant, roles, ...rest } = result.data;
  return [
    {
      ...rest,
      title: title ?? rest.name,
      clientSecret: ownValue(secrets, rest.name) ?? null,
      tenant: tenant === undefined ? null : asId(tenant),
      roles: roles ?? null,
    },
  ];
}

/** `provider 2 (corp): issuer must be …` */
function placeOf(entry: unknown, index: number, { path, message }: z.core.$ZodIssue): string {
  const name = (entry as { readonly name?: unknown } | null)?.name;
  const called = typeof name === 'string' && NAME.test(name) ? ` (${name})` : '';
  return `provider ${index + 1}${called}: ${[path.join('.'), message].join(' ').trim()}`;
}

function checkedJson<T>(variable: string, text: string, schema: z.ZodType<T>, problems: string[]): T | null {
  const value = parseJson(text);
  if (value === undefined) {
    problems.push(`${variable}: the value is not JSON.`);
    return null;
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  for (const { path, message } of result.error.issues) {
    problems.push(`${variable}: ${[path.join('.'), message].join(' ').trim()}.`);
  }
  return null;
}

function isIssuer(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return false;
  return url.search === '' && url.hash === '' && url.username === '' && url.password === '' && !/[?#\s]/.test(text);
}
