package payments

import "github.com/exchequer-dev/exchequer/money"

// This file turns nouns into items and back.

func itemOf(p Payment) paymentItem {
	return paymentItem{
		AccountID: p.AccountID, At: p.At, ID: p.ID, Status: p.Status, PayeeID: p.PayeeID,
		MerchantID: p.MerchantID, Amount: p.Amount.Units(), Currency: p.Amount.Currency(),
		Zone: p.Zone, Description: p.Description, Data: p.Data, Version: p.Version,
		Attempts: p.Attempts, Attempt: p.Attempt, Until: p.Until, Reason: p.Reason,
		ReasonText: p.ReasonText, TransactionID: p.TransactionID, CreatedAt: p.CreatedAt,
		UpdatedAt: p.UpdatedAt,
	}
}

func paymentOf(i paymentItem) Payment {
	p := Payment{
		AccountID: i.AccountID, At: i.At, ID: i.ID, Status: i.Status, PayeeID: i.PayeeID,
		MerchantID: i.MerchantID, Zone: i.Zone, Description: i.Description, Data: i.Data,
		Version: i.Version, Attempts: i.Attempts, Attempt: i.Attempt, Until: i.Until,
		Reason: i.Reason, ReasonText: i.ReasonText, TransactionID: i.TransactionID,
		CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt,
	}
	// Only a program that does not know the rules of money could have stored what New refuses.
	p.Amount, _ = money.New(i.Amount, i.Currency)
	return p
}

// at is the key of a payment as an item.
func at(p Payment) paymentItem {
	return paymentItem{AccountID: p.AccountID, At: p.At, ID: p.ID}
}
