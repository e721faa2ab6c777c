import {
  ActionIcon,
  Anchor,
  AppShell,
  Avatar,
  Burger,
  Button,
  type ButtonProps,
  Group,
  Menu,
  NavLink,
  type NavLinkProps,
  Text,
  Title,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createLink, Link, Outlet, useLocation } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { useEffect } from 'react';
import { NotAuthenticated } from '../../client/index.ts';
import { engram } from './api.ts';
import icon from './icon.svg';
import {
  IconActivity,
  IconChecklist,
  IconCoins,
  IconDatabase,
  IconFileText,
  IconHistory,
  IconLogout,
  IconMessageQuestion,
  IconMoon,
  IconPlugConnected,
  IconSettings,
  IconSparkles,
  IconSun,
  IconTopologyStar3,
  IconUsers,
} from './icons.ts';
import { type Me, meQuery, useIsOpen } from './queries.ts';
import { SignIn } from './sign-in.tsx';
import { complain, Empty, Failed, Waiting } from './states.tsx';

type AnchorProps = Omit<React.AnchorHTMLAttributes<HTMLAnchorElement>, 'style' | 'color'>;

/** Components of Mantine that lead to another page of the console. */
export const LinkButton = createLink((props: ButtonProps & AnchorProps) => <Button component="a" {...props} />);
const RouterNavLink = createLink((props: NavLinkProps & AnchorProps) => <NavLink component="a" {...props} />);

interface Entry {
  readonly to: `/${'ask' | 'datasets' | 'graph' | 'sessions' | 'skills' | 'improve' | 'activity' | 'people' | 'integrations' | 'costs' | 'settings'}`;
  readonly label: string;
  readonly icon: ComponentType<{ size?: number }>;
}

const ENTRIES: readonly Entry[] = [
  { to: '/ask', label: 'Ask', icon: IconMessageQuestion },
  { to: '/datasets', label: 'Datasets', icon: IconDatabase },
  { to: '/graph', label: 'Graph', icon: IconTopologyStar3 },
  { to: '/sessions', label: 'Sessions', icon: IconHistory },
  { to: '/skills', label: 'Skills', icon: IconChecklist },
  { to: '/improve', label: 'Improve', icon: IconSparkles },
  { to: '/activity', label: 'Activity', icon: IconActivity },
  { to: '/people', label: 'People', icon: IconUsers },
  { to: '/integrations', label: 'Integrations', icon: IconPlugConnected },
  { to: '/costs', label: 'Costs', icon: IconCoins },
  { to: '/settings', label: 'Settings', icon: IconSettings },
];

export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure();
  const { pathname } = useLocation();
  const me = useQuery(meQuery);
  const entry = ENTRIES.find(({ to }) => pathname.startsWith(to));
  const isStranger = me.error instanceof NotAuthenticated;

  useEffect(() => {
    document.title = isStranger ? 'Sign in · Engram' : entry === undefined ? 'Engram' : `${entry.label} · Engram`;
  }, [entry, isStranger]);

  if (isStranger) return <SignIn />;
  if (me.isPending) return <Waiting label="Starting" />;
  if (me.isError) return <Failed error={me.error} onRetry={() => void me.refetch()} />;
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 200, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding={{ base: 'sm', sm: 'lg' }}
    >
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap">
            <Burger
              opened={isOpen}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label="Menu"
              aria-expanded={isOpen}
            />
            <img src={icon} alt="" width={28} height={28} />
            <Text fw={700} size="lg">
              Engram
            </Text>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <SchemeButton />
            <UserMenu me={me.data} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs">
        <nav aria-label="Pages">
          {ENTRIES.map(({ to, label, icon: Icon }) => (
            <RouterNavLink
              key={to}
              to={to}
              label={label}
              leftSection={<Icon size={18} />}
              active={pathname.startsWith(to)}
              onClick={close}
              variant="light"
            />
          ))}
        </nav>
      </AppShell.Navbar>
      <AppShell.Main id="main">
        <Outlet />
      </AppShell.Main>
    </AppShell>
  );
}

function SchemeButton() {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('light');
  const next = scheme === 'dark' ? 'light' : 'dark';
  return (
    <ActionIcon variant="default" size="lg" onClick={() => setColorScheme(next)} aria-label={`Use ${next} colours`}>
      {scheme === 'dark' ? <IconSun size={18} /> : <IconMoon size={18} />}
    </ActionIcon>
  );
}

function UserMenu({ me }: { readonly me: Me }) {
  const client = useQueryClient();
  const isOpen = useIsOpen();
  const signOut = async () => {
    try {
      await engram.post('/api/v1/auth/logout');
      client.clear();
      // Nothing of the person stays in the memory of the page.
      window.location.assign('/');
    } catch (error) {
      complain(error);
    }
  };
  return (
    <Menu position="bottom-end" width={260}>
      <Menu.Target>
        <ActionIcon variant="subtle" size="lg" aria-label={`Account of ${me.email}`}>
          <Avatar size={30} color="indigo" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" c="var(--mantine-color-text)" className="clip">
            {me.email}
          </Text>
          {isOpen ? 'Authentication is off on this server' : me.is_superuser ? 'Superuser' : 'Signed in'}
        </Menu.Label>
        <Menu.Item component="a" href="/docs" leftSection={<IconFileText size={16} />}>
          API documentation
        </Menu.Item>
        {isOpen ? null : (
          <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void signOut()}>
            Sign out
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

export function NotFound() {
  return (
    <Empty
      title="There is no such page"
      action={
        <Anchor component={Link} to="/ask">
          Go to Ask
        </Anchor>
      }
    >
      The address may be misspelt, or of another release.
    </Empty>
  );
}

/** Title and what a page does, with its buttons beside it. */
export function PageTitle({ title, children }: { readonly title: string; readonly children?: React.ReactNode }) {
  return (
    <Group justify="space-between" mb="md" gap="sm">
      <Title order={1} size="h2" style={{ overflowWrap: 'anywhere' }}>
        {title}
      </Title>
      <Group gap="xs">{children}</Group>
    </Group>
  );
}

interface SectionProps {
  readonly title: string;
  /** Name of the region; the title without it. */
  readonly label?: string;
  readonly about?: string;
  readonly children: React.ReactNode;
}

/** A part of a page below its title, with what it is about. */
export function Section({ title, label = title, about, children }: SectionProps) {
  return (
    <section aria-label={label}>
      <Title order={2} size="h4" {...(about === undefined ? { mb: 'xs' } : {})}>
        {title}
      </Title>
      {about === undefined ? null : (
        <Text size="sm" c="dimmed" mb="sm">
          {about}
        </Text>
      )}
      {children}
    </section>
  );
}
