CREATE TABLE `cached_answers` (
	`key` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`key_id` text NOT NULL,
	`model` text NOT NULL,
	`content` blob NOT NULL,
	`bytes` integer NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`key_id`) REFERENCES `api_keys`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `cached_answers_expiry` ON `cached_answers` (`expires_at`);--> statement-breakpoint
CREATE INDEX `cached_answers_oldest` ON `cached_answers` (`created_at`,`bytes`);--> statement-breakpoint
CREATE INDEX `cached_answers_account` ON `cached_answers` (`account_id`);--> statement-breakpoint
CREATE INDEX `cached_answers_key` ON `cached_answers` (`key_id`);--> statement-breakpoint
CREATE INDEX `cached_answers_model` ON `cached_answers` (`model`);