import {
  Anchor,
  Button,
  Center,
  Divider,
  Group,
  Paper,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { engram, messageOf } from './api.ts';
import { checkEmail } from './forms.tsx';
import icon from './icon.svg';
import { signInQuery } from './queries.ts';
import { Failed } from './states.tsx';

const TEXTS: Readonly<Record<string, string>> = {
  LOGIN_BAD_CREDENTIALS: 'The address or the password is wrong.',
  RESET_PASSWORD_BAD_TOKEN: 'The token is wrong or too old. Ask for another mail.',
  REGISTER_USER_ALREADY_EXISTS: 'There is an account with this address. Sign in with it.',
};

/** The address without the words of the last attempt. */
function returnAddress(): string {
  const url = new URL(window.location.href);
  for (const name of ['error', 'error_description']) url.searchParams.delete(name);
  return `${url.pathname}${url.search}`;
}

type Mode = 'in' | 'new' | 'forgot' | 'reset';

const MODES: Readonly<Record<Mode, { readonly title: string; readonly action: string }>> = {
  in: { title: 'Sign in to Engram', action: 'Sign in' },
  new: { title: 'Create an account', action: 'Create the account' },
  forgot: { title: 'Forgot your password?', action: 'Send me a mail' },
  reset: { title: 'Choose a new password', action: 'Set the password' },
};

/** The token of a mail whose link leads here (`#reset=…`), read before the router changes the address. */
const LINK_TOKEN = new URLSearchParams(window.location.hash.slice(1)).get('reset') ?? '';

export function SignIn() {
  const client = useQueryClient();
  const [mode, setMode] = useState<Mode>(LINK_TOKEN === '' ? 'in' : 'reset');
  const [note, setNote] = useState('');
  const [error, setError] = useState<Error | null>(() => {
    const text = new URLSearchParams(window.location.search).get('error_description');
    return text === null ? null : new Error(text);
  });
  const [isSending, setSending] = useState(false);
  const providers = useQuery(signInQuery);
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { email: '', password: '', token: LINK_TOKEN },
    validate: {
      email: (value) => (mode === 'reset' ? null : checkEmail(value)),
      password: (value) => (value === '' && mode !== 'forgot' ? 'Enter the password' : null),
      token: (value) => (value === '' && mode === 'reset' ? 'Enter the token of the mail' : null),
    },
  });
  const show = (next: Mode, text = '') => {
    setMode(next);
    setNote(text);
    setError(null);
  };

  const submit = form.onSubmit(async ({ email, password, token }) => {
    setSending(true);
    setError(null);
    try {
      if (mode === 'forgot') {
        await engram.post('/api/v1/auth/forgot-password', { body: { email } });
        return show('reset', 'If there is such an account and this server can send mails, one is on its way.');
      }
      if (mode === 'reset') {
        await engram.post('/api/v1/auth/reset-password', { body: { token, password } });
        window.history.replaceState(null, '', window.location.pathname + window.location.search);
        return show('in', 'The password is set. Sign in with it.');
      }
      if (mode === 'new') await engram.post('/api/v1/auth/register', { body: { email, password } });
      await engram.post('/api/v1/auth/login', { body: { username: email, password } });
      await client.resetQueries();
    } catch (failure) {
      const message = messageOf(failure);
      setError(new Error(TEXTS[message] ?? message));
    } finally {
      setSending(false);
    }
  });

  return (
    <Center component="main" mih="100dvh" p="md">
      <Paper withBorder p="xl" w={400} maw="100%">
        <Stack>
          <img src={icon} alt="" width={40} height={40} />
          <Title order={1} size="h3">
            {MODES[mode].title}
          </Title>
          {note === '' ? null : (
            <Text size="sm" role="status">
              {note}
            </Text>
          )}
          {error === null ? null : <Failed error={error} />}
          <form onSubmit={submit} noValidate>
            <Stack gap="sm">
              {mode === 'reset' ? (
                <TextInput
                  label="Token of the mail"
                  autoComplete="off"
                  key={form.key('token')}
                  {...form.getInputProps('token')}
                />
              ) : (
                <TextInput
                  label="E-mail"
                  type="email"
                  autoComplete="username"
                  key={form.key('email')}
                  {...form.getInputProps('email')}
                />
              )}
              {mode === 'forgot' ? null : (
                <PasswordInput
                  label={mode === 'reset' ? 'New password' : 'Password'}
                  autoComplete={mode === 'in' ? 'current-password' : 'new-password'}
                  key={form.key('password')}
                  {...form.getInputProps('password')}
                />
              )}
              <Button type="submit" loading={isSending}>
                {MODES[mode].action}
              </Button>
            </Stack>
          </form>
          {(providers.data?.providers ?? []).length > 0 ? <Divider label="or" /> : null}
          {providers.data?.providers.map(({ name, title, login_url: url }) => (
            <Button
              key={name}
              component="a"
              variant="default"
              href={`${url}?return_to=${encodeURIComponent(returnAddress())}`}
            >
              Sign in with {title}
            </Button>
          ))}
          <Group justify="space-between">
            {mode === 'in' ? (
              <>
                <SwitchTo onClick={() => show('new')}>Create an account</SwitchTo>
                <SwitchTo onClick={() => show('forgot')}>Forgot your password?</SwitchTo>
              </>
            ) : (
              <SwitchTo onClick={() => show('in')}>Sign in</SwitchTo>
            )}
          </Group>
        </Stack>
      </Paper>
    </Center>
  );
}

function SwitchTo({ children, onClick }: { readonly children: string; onClick(): void }) {
  return (
    <Anchor component="button" type="button" size="sm" underline="always" onClick={onClick}>
      {children}
    </Anchor>
  );
}
