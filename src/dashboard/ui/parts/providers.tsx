// Ways to sign in or up through someone else.

import { beginSignIn } from "../oauth-sign-in.ts";
import { session } from "../session.ts";

/** One link for each provider that is configured. */
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
