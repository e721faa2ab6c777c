import { Button, PasswordInput, Stack, Tabs, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { engram } from '../api.ts';
import { checkEmail } from '../forms.tsx';
import { meQuery, useIsOpen, useMe } from '../queries.ts';
import { PageTitle } from '../shell.tsx';
import { Failed, say } from '../states.tsx';
import { Agents } from './agents.tsx';
import { ApiKeys } from './api-keys.tsx';
import { Permissions } from './permissions.tsx';
import { Tenants } from './tenants.tsx';
import { Users } from './users.tsx';

/** Each tab with who sees it; without authentication all requests are those of one account, which nobody can change. */
export function PeoplePage() {
  const me = useMe();
  const isOpen = useIsOpen();
  const tabs = [
    { value: 'keys', label: 'API keys', panel: ApiKeys },
    { value: 'permissions', label: 'Permissions', panel: Permissions },
    { value: 'tenants', label: 'Tenants', panel: Tenants },
    { value: 'agents', label: 'Agents', panel: Agents },
    ...(me?.is_superuser && !isOpen ? [{ value: 'accounts', label: 'Accounts', panel: Users }] : []),
    ...(isOpen ? [] : [{ value: 'account', label: 'Your account', panel: Account }]),
  ];
  return (
    <>
      <PageTitle title="People" />
      <Tabs defaultValue="keys" keepMounted={false}>
        <Tabs.List>
          {tabs.map(({ value, label }) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map(({ value, panel: Panel }) => (
          <Tabs.Panel key={value} value={value} pt="md">
            <Panel />
          </Tabs.Panel>
        ))}
      </Tabs>
      {isOpen ? (
        <Text size="sm" c="dimmed" mt="lg">
          Authentication is off: all requests are those of {me?.email}. With REQUIRE_AUTHENTICATION=true people sign in,
          and superusers administer their accounts here.
        </Text>
      ) : null}
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
    validate: { email: checkEmail },
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
