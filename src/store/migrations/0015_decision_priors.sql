CREATE TABLE `decision_priors` (
	`key` text PRIMARY KEY NOT NULL,
	`log_probabilities` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `decision_priors_created` ON `decision_priors` (`created_at`);