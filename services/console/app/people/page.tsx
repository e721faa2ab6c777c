import { Button, PasswordInput, Stack, Tabs, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { engram } from '../api.ts';
import { meQuery, useMe } from '../queries.ts';
import { PageTitle } from '../shell.tsx';
import { Failed, say } from '../states.tsx';
import { Agents } from './agents.tsx';
import { ApiKeys } from './api-keys.tsx';
import { Tenants } from './tenants.tsx';

export function PeoplePage() {
  return (
    <>
      <PageTitle title="People" />
      <Tabs defaultValue="keys" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="keys">API keys</Tabs.Tab>
          <Tabs.Tab value="tenants">Tenants</Tabs.Tab>
          <Tabs.Tab value="agents">Agents</Tabs.Tab>
          <Tabs.Tab value="account">Account</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="keys" pt="md">
          <ApiKeys />
        </Tabs.Panel>
        <Tabs.Panel value="tenants" pt="md">
          <Tenants />
        </Tabs.Panel>
        <Tabs.Panel value="agents" pt="md">
          <Agents />
        </Tabs.Panel>
        <Tabs.Panel value="account" pt="md">
          <Account />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

/** The own address and password. */
function Account() {
  const me = useMe();
  const client = useQueryClient();
  const [error, setError] = useState<Error | null>(null);
  const [isSending, setSending] = useState(false);
  const form = useForm({
    initialValues: { email: me?.email ?? '', password: '' },
    validate: { email: (value) => (/^\S+@\S+$/.test(value) ? null : 'An e-mail address, like name@example.com') },
  });
  const submit = form.onSubmit(async ({ email, password }) => {
    setSending(true);
    setError(null);
    try {
      const body = { ...(email === me?.email ? {} : { email }), ...(password === '' ? {} : { password }) };
      await engram.patch('/api/v1/users/me', { body });
      form.setFieldValue('password', '');
      await client.invalidateQueries({ queryKey: meQuery.queryKey });
      say('The account was changed.');
    } catch (failure) {
      setError(failure as Error);
    } finally {
      setSending(false);
    }
  });
  return (
    <Stack maw={420}>
      <form onSubmit={submit} noValidate>
        <Stack gap="sm" align="flex-start">
          <TextInput w="100%" label="E-mail" type="email" autoComplete="username" {...form.getInputProps('email')} />
          <PasswordInput
            w="100%"
            label="New password"
            description="Empty: it stays as it is"
            autoComplete="new-password"
            {...form.getInputProps('password')}
          />
          <Button
            type="submit"
            loading={isSending}
            disabled={form.values.password === '' && form.values.email === me?.email}
          >
            Save
          </Button>
        </Stack>
      </form>
      {error === null ? null : <Failed error={error} />}
      <Text size="sm" c="dimmed">
        {me?.is_superuser ? 'You are a superuser of this server.' : ''}
      </Text>
    </Stack>
  );
}
