import { Anchor, Button, Center, Divider, Paper, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { engram, messageOf } from './api.ts';
import { checkEmail } from './forms.tsx';
import icon from './icon.svg';
import { Failed } from './states.tsx';

const TEXTS: Readonly<Record<string, string>> = {
  LOGIN_BAD_CREDENTIALS: 'The address or the password is wrong.',
  REGISTER_USER_ALREADY_EXISTS: 'There is an account with this address. Sign in with it.',
};

/** The address without the words of the last attempt. */
function returnAddress(): string {
  const url = new URL(window.location.href);
  for (const name of ['error', 'error_description']) url.searchParams.delete(name);
  return `${url.pathname}${url.search}`;
}

export function SignIn() {
  const client = useQueryClient();
  const [isNew, setNew] = useState(false);
  const [error, setError] = useState<Error | null>(() => {
    const text = new URLSearchParams(window.location.search).get('error_description');
    return text === null ? null : new Error(text);
  });
  const [isSending, setSending] = useState(false);
  const providers = useQuery({
    queryKey: ['providers'],
    queryFn: () => engram.get('/api/v1/auth/oidc'),
  });
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { email: '', password: '' },
    validate: {
      email: checkEmail,
      password: (value) => (value === '' ? 'Enter the password' : null),
    },
  });

  const submit = form.onSubmit(async ({ email, password }) => {
    setSending(true);
    setError(null);
    try {
      if (isNew) await engram.post('/api/v1/auth/register', { body: { email, password } });
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
            {isNew ? 'Create an account' : 'Sign in to Engram'}
          </Title>
          {error === null ? null : <Failed error={error} />}
          <form onSubmit={submit} noValidate>
            <Stack gap="sm">
              <TextInput
                label="E-mail"
                type="email"
                autoComplete="username"
                key={form.key('email')}
                {...form.getInputProps('email')}
              />
              <PasswordInput
                label="Password"
                autoComplete={isNew ? 'new-password' : 'current-password'}
                key={form.key('password')}
                {...form.getInputProps('password')}
              />
              <Button type="submit" loading={isSending}>
                {isNew ? 'Create the account' : 'Sign in'}
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
          <Text size="sm">
            {isNew ? 'You have an account? ' : 'New here? '}
            <Anchor component="button" type="button" size="sm" underline="always" onClick={() => setNew(!isNew)}>
              {isNew ? 'Sign in' : 'Create an account'}
            </Anchor>
          </Text>
        </Stack>
      </Paper>
    </Center>
  );
}
