// Links for signing in or up through a sign-in provider.

import { beginSignIn } from "../oauth-sign-in.ts";
import { session } from "../session.ts";

/** One button for each configured provider. */
export function ProviderLinks({ next }: { next: string }) {
  const { providers } = session.value;
  if (providers.length === 0) return null;
  return (
    <div class="providers">
      <p class="or">
        <span>or</span>
      </p>
      {providers.map(({ slug, name }) => (
        <a
          key={slug}
          class="button"
          href={`/v1/auth/oauth/${slug}/start`}
          onClick={(event) => {
            event.preventDefault();
            beginSignIn(slug, next);
          }}
        >
          Continue with {name}
        </a>
      ))}
    </div>
  );
}
