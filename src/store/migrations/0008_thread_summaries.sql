DELETE FROM threads;--> statement-breakpoint
DROP TABLE `threads`;--> statement-breakpoint
CREATE TABLE `threads` (
	`account_id` text NOT NULL,
	`kind` text NOT NULL,
	`thread_id` text NOT NULL,
	`model` text NOT NULL,
	`messages` integer NOT NULL,
	`tokens` integer NOT NULL,
	`state` blob NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `kind`, `thread_id`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `threads_expiry` ON `threads` (`expires_at`);--> statement-breakpoint
CREATE INDEX `threads_oldest` ON `threads` (`account_id`,`updated_at`);--> statement-breakpoint
CREATE TABLE `thread_summaries` (
	`account_id` text NOT NULL,
	`kind` text NOT NULL,
	`thread_id` text NOT NULL,
	`id` text NOT NULL,
	`tokens` integer NOT NULL,
	`state` blob NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `kind`, `thread_id`, `id`),
	FOREIGN KEY (`account_id`,`kind`,`thread_id`) REFERENCES `threads`(`account_id`,`kind`,`thread_id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TRIGGER threads_stored AFTER INSERT ON threads BEGIN
  INSERT INTO account_storage (account_id, bytes) VALUES (NEW.account_id, octet_length(NEW.thread_id) + octet_length(NEW.state))
  ON CONFLICT (account_id) DO UPDATE SET bytes = bytes + excluded.bytes;
END;--> statement-breakpoint
CREATE TRIGGER threads_resized AFTER UPDATE OF thread_id, state ON threads BEGIN
  UPDATE account_storage SET bytes = bytes - (octet_length(OLD.thread_id) + octet_length(OLD.state)) + (octet_length(NEW.thread_id) + octet_length(NEW.state)) WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER threads_removed AFTER DELETE ON threads BEGIN
  UPDATE account_storage SET bytes = bytes - (octet_length(OLD.thread_id) + octet_length(OLD.state)) WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
CREATE TRIGGER thread_summaries_stored AFTER INSERT ON thread_summaries BEGIN
  INSERT INTO account_storage (account_id, bytes) VALUES (NEW.account_id, octet_length(NEW.state))
  ON CONFLICT (account_id) DO UPDATE SET bytes = bytes + excluded.bytes;
END;--> statement-breakpoint
CREATE TRIGGER thread_summaries_resized AFTER UPDATE OF state ON thread_summaries BEGIN
  UPDATE account_storage SET bytes = bytes - octet_length(OLD.state) + octet_length(NEW.state) WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER thread_summaries_removed AFTER DELETE ON thread_summaries BEGIN
  UPDATE account_storage SET bytes = bytes - octet_length(OLD.state) WHERE account_id = OLD.account_id;
END;
